"""Words too common to tell one memory from another. Negations and numbers are not among them."""

from typing import Final

ENGLISH: Final = frozenset(
    """
    a an the and or but if then than so as of at by for from in into on onto to up with about over under out off
    i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves this that these those there here
    am is are was were be been being do does did doing done have has had having
    will would shall should can could may might must
    what which who whom whose when where why how
    just very too also again some any such own same other each both more most only
    """.split()  # noqa: SIM905 - a list of words is read as words
)

CHINESE: Final = frozenset(
    """
    的 了 吗 呢 吧 啊 呀 嘛 哦 嗯 哈 着 过 得 地 是 在 和 与 及 或 就 都 也 还 又 才 很 太 把 被 让 给 对 从 向 到 于 以
    这 那 哪 之 其 而 则 所 为 个 些 么 谁
    这个 那个 哪个 这些 那些 哪些 这里 那里 哪里 哪儿 这样 那样 怎样 这么 那么 怎么 怎么样 什么 为什么 多少 如何 是否
    就是 还是 但是 而且 因为 所以 如果 然后 或者 以及 一个 一下 一些 已经 可以 时候
    """.split()  # noqa: SIM905 - a list of words is read as words
)
