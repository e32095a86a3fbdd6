from tokdrain._core import Result as Result
from tokdrain._counter import Counter as Counter
from tokdrain._encoding import BatchEncoding as BatchEncoding
from tokdrain._errors import CountTimeout as CountTimeout
from tokdrain._errors import Error as Error
from tokdrain._errors import InputError as InputError
from tokdrain._errors import InternalError as InternalError
from tokdrain._errors import LimitError as LimitError
from tokdrain._errors import TemplateError as TemplateError
from tokdrain._errors import TokenizerError as TokenizerError
from tokdrain._errors import VerifyError as VerifyError
from tokdrain._errors import WorkerError as WorkerError
from tokdrain._model import Model as Model
from tokdrain._model import Span as Span
from tokdrain._schema import get_json_schema as get_json_schema

__version__: str
