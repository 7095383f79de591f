"""Filters as SQL: every key and every value is a bound parameter, never text of the statement."""

import json
from collections.abc import Callable, Sequence
from operator import ge, gt, le, lt
from typing import Any, Final, assert_never

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    Double,
    Integer,
    Table,
    Text,
    and_,
    bindparam,
    cast,
    func,
    not_,
    or_,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.domain.filters import Condition, FieldType, Filter, Group, Operator

_COMPARISON: Final[dict[Operator, Callable[[Any, Any], Any]]] = {
    Operator.GT: gt,
    Operator.GTE: ge,
    Operator.LT: lt,
    Operator.LTE: le,
}


def filter_condition(table: Table, asked: Filter) -> ColumnElement[bool]:
    """The condition that a filter is on `table`. What is absent differs from every value and lies in no range."""
    if isinstance(asked, Group):
        parts = [filter_condition(table, part) for part in asked.parts]
        match asked.connective:
            case "AND":
                return and_(*parts)
            case "OR":
                return or_(*parts)
            case "NOT":
                return not_(or_(*parts))
            case _:
                assert_never(asked.connective)
    if asked.type is FieldType.JSON:
        return _of_json(_JsonField(table.c[asked.field], asked.path), asked)
    return _of_column(table.c[asked.field], asked)


def _of_column(column: ColumnElement[Any], asked: Condition) -> ColumnElement[bool]:
    operator, value = asked.operator, asked.value
    match operator:
        case Operator.EQ:
            return _known(column == value)
        case Operator.NE:
            return column.is_distinct_from(value)
        case Operator.IN:
            return _known(_any_of(column, value))
        case Operator.NIN:
            return not_(_known(_any_of(column, value)))
        case Operator.CONTAINS:
            return _known(func.strpos(column, bindparam(None, value, type_=Text())) > 0)
        case Operator.ICONTAINS:
            return _known(func.strpos(func.lower(column), func.lower(bindparam(None, value, type_=Text()))) > 0)
        case Operator.EXISTS:
            return column.is_not(None) if value else column.is_(None)
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE:
            return _known(_COMPARISON[operator](column, value))
        case _:
            assert_never(operator)


def _any_of(column: ColumnElement[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """One parameter, however many values: PostgreSQL takes 32,767 parameters in one statement."""
    kind = Double() if isinstance(column.type, Integer) else column.type  # 2.5 is compared with whole numbers too
    return column == func.any(bindparam(None, list(values), type_=ARRAY(kind)))


class _JsonField:
    """A place in a JSON column, as JSON and as text."""

    def __init__(self, column: ColumnElement[Any], path: tuple[str, ...]) -> None:
        way = bindparam(None, list(path), type_=ARRAY(Text()))
        self.json: ColumnElement[Any] = column.op("#>", return_type=JSONB())(way)
        self.text: ColumnElement[Any] = column.op("#>>", return_type=Text())(way)


def _of_json(field: _JsonField, asked: Condition) -> ColumnElement[bool]:
    operator, value = asked.operator, asked.value
    match operator:
        case Operator.EQ:
            return _known(field.json == _json(value))
        case Operator.NE:
            return field.json.is_distinct_from(_json(value))
        case Operator.IN:
            return _known(_any_json_of(field, value))
        case Operator.NIN:
            return not_(_known(_any_json_of(field, value)))
        case Operator.CONTAINS:
            return _known(or_(_substring(field, value), field.json.op("@>", return_type=Boolean())(_json([value]))))
        case Operator.ICONTAINS:
            return _known(_substring(field, value, folded=True))
        case Operator.EXISTS:
            return field.json.is_not(None) if value else field.json.is_(None)
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE:
            same_type = func.jsonb_typeof(field.json) == func.jsonb_typeof(_json(value))
            return _known(and_(same_type, _COMPARISON[operator](field.json, _json(value))))
        case _:
            assert_never(operator)


def _any_json_of(field: _JsonField, values: Sequence[Any]) -> ColumnElement[bool]:
    written = [json.dumps(one) for one in values]  # as texts: a null among them would be SQL's
    return field.json == func.any(cast(bindparam(None, written, type_=ARRAY(Text())), ARRAY(JSONB())))


def _substring(field: _JsonField, value: str, *, folded: bool = False) -> ColumnElement[bool]:
    text = bindparam(None, value, type_=Text())
    within = func.strpos(func.lower(field.text), func.lower(text)) if folded else func.strpos(field.text, text)
    return and_(func.jsonb_typeof(field.json) == "string", within > 0)


def _json(value: Any) -> ColumnElement[Any]:  # noqa: ANN401 - JSON is anything
    return cast(bindparam(None, value, type_=JSONB()), JSONB())


def _known(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """False instead of unknown, so that NOT means what it says."""
    return func.coalesce(condition, False)
