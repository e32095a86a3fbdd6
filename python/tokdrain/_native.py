"""The extension module with what it calls back. Import it from here."""
from tokdrain import _core as core
from tokdrain._errors import make
from tokdrain._plain import plain

core.set_helpers(make, plain)

__all__ = ["core"]
