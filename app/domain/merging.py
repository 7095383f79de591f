"""JSON Merge Patch (RFC 7396)."""

from typing import Any


def merge_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401 - JSON is anything
    """`target` with `patch` applied: null removes a member, objects are merged, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged
