"""The words of a question and what they are worth: the lexical part of a search's statement."""

from typing import Final

from sqlalchemy import CTE, Float, Text, false, func, literal_column, select, true, union_all
from sqlalchemy import column as sql_column

from app.db.models import owner_stats
from app.repositories.bm25 import TOKENS, Statistics, bm25, idf, statistics
from app.repositories.corpus import OWNERS, TENANT, Corpus, Path

RARE_POSTINGS: Final = 5_000
"""In large scopes words are looked up from the rarest on, until so many postings were met."""


def statistics_of(corpus: Corpus) -> Statistics:
    """What the owners' texts are as a whole, by their counters."""
    stats = owner_stats.c
    return statistics(*corpus.counted, stats.tenant_id == TENANT, stats.owner == func.any(OWNERS))


def words_of(corpus: Corpus, path: Path, of: Statistics) -> tuple[CTE, CTE]:
    """BM25 (Robertson and Zaragoza 2009, k1 = 0.9, b = 0.4) of rows that share a word, in float8; and the words' idf.

    In a large scope only the rarest words bring rows; all of them count for a row that was brought.
    """
    postings = corpus.postings
    mine = (postings.c.tenant_id == TENANT, postings.c.owner == func.any(OWNERS))
    columns = (postings.c[corpus.target].label("id"), postings.c.token, postings.c.tf, postings.c.len)
    if path == "hnsw":
        asked = func.unnest(TOKENS).table_valued(sql_column("token", Text()), name="asked").render_derived()
        frequency = select(func.count()).where(*mine, postings.c.token == asked.c.token).scalar_subquery()
        counted = select(asked.c.token, frequency.label("df")).cte("counted").prefix_with("MATERIALIZED")
        before = func.sum(counted.c.df).over(order_by=[counted.c.df, counted.c.token]) - counted.c.df
        idfs = (
            select(counted.c.token, idf(counted.c.df, of).label("idf"), before.label("before"))
            .where(counted.c.df > 0)
            .cte("idfs")
            .prefix_with("MATERIALIZED")
        )
        rare = select(idfs.c.token).where(idfs.c.before < RARE_POSTINGS)
        hits = select(*columns).where(*mine, postings.c.token == func.any(func.array(rare.scalar_subquery())))
        found = hits.cte("hits").prefix_with("MATERIALIZED")
    else:
        hits = select(*columns).where(*mine, postings.c.token == func.any(TOKENS))
        found = hits.cte("hits").prefix_with("MATERIALIZED")
        idfs = (
            select(found.c.token, idf(func.count(), of).label("idf"))
            .group_by(found.c.token)
            .cte("idfs")
            .prefix_with("MATERIALIZED")
        )
    scored = (
        select(found.c.id, bm25(idfs, found, of).label("bm25"), func.sum(idfs.c.idf).label("matched"))
        .join_from(found, idfs, idfs.c.token == found.c.token)
        .group_by(found.c.id)
        .cte("words")
        .prefix_with("MATERIALIZED")
    )
    return scored, idfs


def told_of(corpus: Corpus, core: CTE, idfs: CTE, of: Statistics) -> CTE:
    """BM25 of the candidates by all of the question's words, where only the rarest have brought rows."""
    postings = corpus.postings
    target = postings.c[corpus.target]
    ids = func.array(select(core.c.id).scalar_subquery())
    return (
        select(target.label("id"), bm25(idfs, postings, of).label("bm25"), func.sum(idfs.c.idf).label("matched"))
        .join_from(postings, idfs, idfs.c.token == postings.c.token)
        .where(
            postings.c.tenant_id == TENANT,
            postings.c.owner == func.any(OWNERS),
            postings.c.token == func.any(TOKENS),
            target == func.any(ids),
        )
        .group_by(target)
        .cte("told")
        .prefix_with("MATERIALIZED")
    )


def marked(core: CTE, told: CTE) -> CTE:
    """The candidates with what their words are worth. Grouped, not joined: the planner takes both for a few rows, and
    would compare each with each.
    """
    nothing = literal_column("NULL::float8", Float())
    candidates = select(core.c.id, true().label("found"), nothing.label("bm25"), nothing.label("matched"))
    worth = select(told.c.id, false(), told.c.bm25, told.c.matched)
    both = union_all(candidates, worth).subquery("both")
    return (
        select(both.c.id, func.max(both.c.bm25).label("bm25"), func.max(both.c.matched).label("matched"))
        .group_by(both.c.id)
        .having(func.bool_or(both.c.found))
        .cte("marked")
        .prefix_with("MATERIALIZED")
    )
