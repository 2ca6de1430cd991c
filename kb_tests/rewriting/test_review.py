"""The review queue on disk (SPEC 6.7)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import StorageError
from kb_pipeline.models import Finding, ReviewEntry, Severity
from kb_pipeline.rewriting.review import ReviewQueue
from kb_pipeline.rewriting.verdicts import VERDICTS, folder_name, read_findings, read_verdict, verdict_text

FINDINGS = (
    Finding("fact-invented", Severity.ERROR, "auth/token.md", '"90 天" 不在原文: 刪掉或改正', line=12),
    Finding("copied", Severity.WARNING, "auth/token.md", "too close\nto the raw"),
)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def hold(queue: ReviewQueue, document: str = "ops/權杖.md", text: str = "一", verdict: str = "held") -> Path:
    return queue.hold(
        document,
        digest(text),
        "0123456789ab",
        verdict,
        "two facts were invented",
        {"auth/token.md": "---\ntitle: 權杖\n---\n# 權杖\n"},
        {"auth/token.md": "舊的\n"},
        FINDINGS,
    )


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_held_document_comes_back_with_drafts_base_and_findings(tmp_path: Path) -> None:
    queue = ReviewQueue(tmp_path / "review")
    folder = hold(queue)
    assert folder == tmp_path / "review" / "ops%2F權杖.md" / digest("一")[:12]
    (entry,) = queue.entries()
    assert entry == ReviewEntry("ops/權杖.md", digest("一"), "0123456789ab", "held", "two facts were invented")
    item = queue.load(entry)
    assert item.drafts == {"auth/token.md": "---\ntitle: 權杖\n---\n# 權杖\n"}
    assert item.base == {"auth/token.md": "舊的\n"}
    assert item.findings == FINDINGS


def test_nothing_is_made_or_needed_before_the_first_hold(tmp_path: Path) -> None:
    queue = ReviewQueue(tmp_path / "review")
    assert queue.entries() == []
    assert not queue.clear("a.md")
    assert not (tmp_path / "review").exists()


def test_holding_the_same_again_touches_no_file(tmp_path: Path) -> None:
    queue = ReviewQueue(tmp_path)
    folder = hold(queue)
    before = (folder / "verdict.yml").stat()
    assert hold(queue) == folder
    after = (folder / "verdict.yml").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    hold(ReviewQueue(tmp_path / "one"))
    hold(ReviewQueue(tmp_path / "two"))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_a_new_version_replaces_the_documents_older_entry_and_no_other(tmp_path: Path) -> None:
    queue = ReviewQueue(tmp_path)
    hold(queue, text="一")
    hold(queue, document="other.md")
    hold(queue, text="二")
    assert [(entry.document, entry.sha256) for entry in queue.entries()] == [
        ("ops/權杖.md", digest("二")),
        ("other.md", digest("一")),
    ]


def test_clear_leaves_the_other_documents_and_no_rubbish(tmp_path: Path) -> None:
    queue = ReviewQueue(tmp_path)
    hold(queue)
    hold(queue, document="other.md")
    assert queue.clear("ops/權杖.md")
    assert [path.name for path in tmp_path.iterdir()] == ["other.md"]


def test_a_decision_keeps_the_verdict_and_drops_the_drafts(tmp_path: Path) -> None:
    queue = ReviewQueue(tmp_path)
    hold(queue)
    folder = queue.settle(queue.entries()[0], "rejected", "the raw is wrong")
    assert [path.name for path in folder.iterdir()] == ["verdict.yml"]
    (entry,) = queue.entries()
    assert (entry.verdict, entry.reason, entry.sha256) == ("rejected", "the raw is wrong", digest("一"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "lacks document"),
        ("- a\n", "list"),
        ("document: [", "quote"),
        (verdict_text(ReviewEntry("a.md", digest("x"), "k", "maybe", "r"), ()), "maybe"),
        (verdict_text(ReviewEntry("a.md", digest("x"), "k", "held", "r"), ()), "does not belong to sha256"),
        (verdict_text(ReviewEntry("b.md", digest("a"), "k", "held", "r"), ()), "does not belong to document"),
    ],
)
def test_a_malformed_verdict_is_reported_and_stops_nothing(tmp_path: Path, text: str, fault: str) -> None:
    queue = ReviewQueue(tmp_path)
    hold(queue, document="good.md")
    folder = tmp_path / "a.md" / digest("a")[:12]
    folder.mkdir(parents=True)
    (folder / "verdict.yml").write_text(text, "utf-8")
    scan = queue.scan()
    assert [entry.document for entry in scan.entries] == ["good.md"]
    (problem,) = scan.problems
    assert problem.rule == "review-entry"
    assert problem.path == f"a.md/{digest('a')[:12]}/verdict.yml"
    assert fault in problem.message


def test_a_missing_or_binary_verdict_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.md" / ("0" * 12)).mkdir(parents=True)
    (tmp_path / "b.md" / ("1" * 12)).mkdir(parents=True)
    (tmp_path / "b.md" / ("1" * 12) / "verdict.yml").write_bytes(b"\xff\xfe\xfd\x00")
    assert len(ReviewQueue(tmp_path).scan().problems) == 2


def test_leftovers_of_a_crash_are_no_entries_and_do_not_stand_in_the_way(tmp_path: Path) -> None:
    """A crash can leave a staged or replaced folder under a hidden name; the next hold goes through."""
    queue = ReviewQueue(tmp_path)
    hold(queue)
    for purpose in ("staged", "replaced", "cleared"):
        rubbish = tmp_path / f".{purpose}-{digest('ops/權杖.md')[:12]}" / "x"
        rubbish.mkdir(parents=True)
        (rubbish / "verdict.yml").write_text("half", "utf-8")
    assert len(queue.entries()) == 1
    hold(queue, text="二")
    assert queue.clear("ops/權杖.md")
    assert queue.entries() == []


def test_when_the_disk_refuses_the_older_entry_still_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = ReviewQueue(tmp_path)
    hold(queue)
    before = tree(tmp_path)
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if self.name.startswith(".staged"):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(StorageError, match="No space left"):
        hold(queue, text="二")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["../evil.md", "/etc/passwd", "a/../../evil.md", "a\\..\\b.md"])
def test_a_draft_never_leaves_the_review_folder(tmp_path: Path, name: str) -> None:
    queue = ReviewQueue(tmp_path / "review")
    with pytest.raises(StorageError, match="refused"):
        queue.hold("a.md", digest("a"), "k", "held", "r", {name: "x"}, {})
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(("sha256", "verdict"), [("short", "held"), (digest("a"), "perhaps")])
def test_values_that_could_not_be_read_back_are_refused(tmp_path: Path, sha256: str, verdict: str) -> None:
    with pytest.raises(StorageError, match=r"a\.md refused"):
        ReviewQueue(tmp_path).hold("a.md", sha256, "k", verdict, "r", {}, {})


@pytest.mark.parametrize(
    "document",
    [
        "a/b.md",
        "a%2Fb.md",
        ".hidden.md",
        "等等...md",
        "x, y.md",
        "p|q.md",
        "[k].md",
        "尾巴. ",
        "很長" * 90 + ".md",
        "..",
        ".",
    ],
)
def test_every_document_has_a_folder_of_its_own_that_file_systems_take(tmp_path: Path, document: str) -> None:
    queue = ReviewQueue(tmp_path)
    hold(queue, document=document)
    assert [entry.document for entry in queue.entries()] == [document]
    (folder,) = tmp_path.iterdir()
    assert len(folder.name.encode()) <= 255
    assert not folder.name.startswith(".")


@given(st.text(alphabet="ab/%.中 |", min_size=1, max_size=12), st.text(alphabet="ab/%.中 |", min_size=1, max_size=12))
def test_two_documents_never_share_a_folder(one: str, other: str) -> None:
    assert (folder_name(one) == folder_name(other)) == (one == other)


@given(st.text(max_size=40), st.text(max_size=60), st.sampled_from(VERDICTS))
def test_whatever_the_reason_says_the_verdict_reads_back(document: str, reason: str, verdict: str) -> None:
    entry = ReviewEntry(document, digest(document), "k", verdict, reason)
    content = verdict_text(entry, (Finding("r", Severity.ERROR, document, reason, line=3),)).encode()
    assert read_verdict(content, folder_name(document), entry.sha256[:12]) == entry
    assert read_findings(content) == (Finding("r", Severity.ERROR, document, reason, line=3),)
