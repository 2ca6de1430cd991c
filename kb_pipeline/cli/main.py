"""The command's tree. Each command lives in a module of its own and imports what it needs when it runs."""

from __future__ import annotations

import gc

import typer

from kb_pipeline.cli import build, config, dev, doctor, graph, init, lint, manifest, search, stats, status
from kb_pipeline.cli.console import fail, interrupted, unexpected
from kb_pipeline.errors import KbError

app = typer.Typer(
    name="kb",
    help="Compile raw markdown into a linted wiki, a graph, a search index and a manifest. 由原始筆記編譯知識庫。",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (
    init.init,
    build.build,
    status.status,
    search.search,
    lint.lint,
    manifest.manifest,
    graph.graph,
    stats.stats,
    config.config,
    doctor.doctor,
    dev.dev,
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        from kb_pipeline import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Entry point of the console script."""
    # Thousands of small values are made and kept: the default thresholds would look through them again and again.
    gc.set_threshold(200_000, 20, 20)
    try:
        app()
    except KbError as error:
        fail(error)
    except KeyboardInterrupt:
        interrupted()
    except Exception as error:  # noqa: BLE001 - the last place that can turn a fault into a sentence
        unexpected(error)


if __name__ == "__main__":
    main()
