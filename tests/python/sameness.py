"""What the tests beside transformers mean by the same: equal values of equal types, or an error on
both sides."""
import jinja2


def attempt(f):
    """f's value, or the exception that it raised."""
    try:
        return f()
    except Exception as error:  # noqa: BLE001 - an error must be an error on both sides
        return error


def same(got, want):
    """Asserts it, all the way down. What a template itself raises has to say the same, too."""
    if isinstance(want, Exception) or isinstance(got, Exception):
        from tokdrain import Error
        assert isinstance(want, Exception) and isinstance(got, Error), (got, want)
        if type(want) is jinja2.TemplateError:
            assert got.message == str(want)
        return
    assert type(got) is type(want)
    if hasattr(want, "keys"):
        assert list(got.keys()) == list(want.keys())
        for key in want.keys():
            same(got[key], want[key])
    elif hasattr(want, "dtype"):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert repr(got) == repr(want)
    else:
        assert got == want
        if isinstance(want, list):
            assert {type(x) for x in got} == {type(x) for x in want}
