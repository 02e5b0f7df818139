"""Stands in for packages that checks of arguments import and do not use."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from unittest import mock


_ANYTHING = {"__init__": lambda self, *_, **__: None, "__class_getitem__": classmethod(lambda cls, _: cls)}


class _Module(types.ModuleType):
    """Names that begin with a capital are classes that can be derived from; everything else can be called and read."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), dict(_ANYTHING)) if name[0].isupper() else mock.MagicMock(name=name)
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = _Module(spec.name)
        module.__path__ = []
        module.__version__ = "99.0"
        return module

    def exec_module(self, module):
        pass


def modules(*names):
    """Pretends the packages among `names` that are not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        sys.meta_path.append(_Finder(set(missing)))
