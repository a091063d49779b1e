"""A model file that is made on the fly: a LLaMA of one layer with random weights, whose tokens are bytes."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

NAME = "tiny random"
_WIDTH, _HIDDEN, _HEADS = 64, 128, 4
#: More ways to end a text, a list, an object: nonsense that comes to an end.
_ENDS = ['"', '",', '"}', '"]', "}", "]", "{", "[", ":"]
_CHAT = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}<assistant>"


def make(path: Path, seed: int = 0) -> Path:
    """Write the model file."""
    rng = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(NAME)
    writer.add_context_length(32_768)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_HIDDEN)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_layer_norm_rms_eps(1e-5)

    kinds = gguf.TokenType
    special = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    tokens = [
        *special,
        *((f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)),
        *((end, kinds.NORMAL) for end in _ENDS),
    ]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([kind for _, kind in tokens])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(_CHAT)

    shapes = {
        "token_embd": (len(tokens), _WIDTH),
        **{f"blk.0.attn_{part}": (_WIDTH, _WIDTH) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_gate": (_HIDDEN, _WIDTH),
        "blk.0.ffn_up": (_HIDDEN, _WIDTH),
        "blk.0.ffn_down": (_WIDTH, _HIDDEN),
        "output": (len(tokens), _WIDTH),
    }
    scales = {"token_embd": 1.0, "output": 0.2}
    for name, shape in shapes.items():
        weights = rng.standard_normal(shape) * scales.get(name, 0.1)
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(_WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
