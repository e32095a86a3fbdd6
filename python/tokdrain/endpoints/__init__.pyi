from tokdrain.endpoints.batch_tokenizer import BatchTokenizer as BatchTokenizer
from tokdrain.endpoints.inputs import MessageInput as MessageInput
from tokdrain.endpoints.inputs import PromptInput as PromptInput
from tokdrain.endpoints.inputs import TextInput as TextInput
from tokdrain.endpoints.inputs import TokenIdsInput as TokenIdsInput
