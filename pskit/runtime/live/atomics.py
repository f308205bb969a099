"""Atomic words in shared memory, for compiled code: one writer publishes, another process sees it in order.

Words are aligned 64-bit integers. A *release* store makes everything that its thread wrote before it
visible to whoever reads the stored value with an *acquire* load. `fence` is sequentially consistent: of two
processes that each store a word, fence, and load the other's word, at least one sees the other's store.

These are LLVM's atomic instructions, so they bind the compiler as well as the processor. On x86 the two
loads and stores are plain moves and only the fence costs something (20 to 30 cycles).
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_ALIGNMENT = 8
_intrinsic: Any = intrinsic  # it also takes the first argument away, which its types do not say


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Address of ``words[index]``, of an int64 array in C order."""
    array_type, index_type = signature.args[:2]
    array = context.make_array(array_type)(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], index_type, types.intp)
    return cgutils.get_item_pointer(context, builder, array_type, array, [index], wraparound=False)


def _is_words(array: Any) -> bool:
    return isinstance(array, types.Array) and array.dtype == types.int64 and array.layout == "C"


@_intrinsic
def load_acquire(typingctx: Any, words: Any, index: Any) -> Any:
    """``words[index]``, before anything that the caller reads or writes after it."""
    if not (_is_words(words) and isinstance(index, types.Integer)):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(pointer, "acquire", _ALIGNMENT, typ=ir.IntType(64))

    return types.int64(words, index), codegen


@_intrinsic
def store_release(typingctx: Any, words: Any, index: Any, value: Any) -> Any:
    """``words[index] = value``, after everything that the caller read or wrote before it."""
    if not (_is_words(words) and isinstance(index, types.Integer) and isinstance(value, types.Integer)):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        value = context.cast(builder, arguments[2], signature.args[2], types.int64)
        builder.store_atomic(value, pointer, "release", _ALIGNMENT)
        return context.get_dummy_value()

    return types.void(words, index, value), codegen


@_intrinsic
def compare_and_swap(typingctx: Any, words: Any, index: Any, expected: Any, value: Any) -> Any:
    """Store ``value`` in ``words[index]`` if that is ``expected``; whether it was."""
    if not (_is_words(words) and all(isinstance(t, types.Integer) for t in (index, expected, value))):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        old, new = (context.cast(builder, arguments[i], signature.args[i], types.int64) for i in (2, 3))
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "monotonic"), 1)

    return types.boolean(words, index, expected, value), codegen


@_intrinsic
def fence(typingctx: Any) -> Any:
    """Order all loads and stores before it before all after it, sequentially consistent."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen
