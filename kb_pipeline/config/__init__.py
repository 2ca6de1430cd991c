"""Configuration: the only reader of ``kb.yml`` and of the environment (SPEC 2).

``schema`` says which keys there are and what they mean, ``layers`` puts flags, environment and file together,
``loading`` checks the whole and reports every fault at once. Only ``bootstrap`` and ``defs/resources.py`` use this
package; stages take plain arguments.
"""

from kb_pipeline.config.loading import CONFIG_FILE, load_settings
from kb_pipeline.config.schema import KNOWN_VERSION, Settings

__all__ = ["CONFIG_FILE", "KNOWN_VERSION", "Settings", "load_settings"]
