# 中文

[settings]
script = han
decimal = point

[drop]
的, 了, 是, 把, 将, 用, 就, 也, 这, 那, 个, 请, 一个, 这个, 那个
这份, 那份, 这篇, 那篇, 这条, 那条, 这段, 那段, 这封, 那封, 这家, 那家, 这场, 那场, 这部, 那部, 这则, 那则
我要, 我想, 我需要, 我想要, 需要, 给我, 给出, 给这, 一点, 一些, 吗, 呢, 吧, 啊, 呀
内容是, 内容为, 内容, 的内容, 关于, 有关, 针对, 方面, 什么, 哪个, 哪一, 属于哪一类, 属于, 保持, 收到的, 收到, 来自, 来称呼对方, 对方
写一个, 写个, 写一篇, 写, 拟一个, 拟个, 拟, 起一个, 起个, 想个, 想一个, 取个, 提供, 列出, 生成, 返回, 制作, 做一个, 做个
谈的是, 谈, 讲的是, 讲, 说的是, 报道说, 也要, 放进去, 归为, 归入, 归到, 出来
句子, 这句话, 这句, 译出

[polite]
请问, 请你, 请您, 麻烦, 麻烦你, 麻烦您, 谢谢, 多谢, 感谢, 劳驾, 拜托, 你好, 您好, 能不能, 能否, 可以请你, 你能, 您能, 请帮我, 帮我, 帮忙, 一下, 好吗, 可以吗, 行吗, 嗯, 呃, 请

[number]
0 = 零, 〇
1 = 一
2 = 二, 两
3 = 三
4 = 四
5 = 五
6 = 六
7 = 七
8 = 八
9 = 九
10 = 十
100 = 百
1000 = 千
10000 = 万
1000000 = 百万
100000000 = 亿

[unit]
percent = 百分之
eur = 欧元
usd = 美元, 美金
cny = 元, 块钱, 人民币
gbp = 英镑
kg = 公斤, 千克
km = 公里, 千米
m = 米
point = 点, 点钟

[date mark]
y = 年
m = 月, 月份
d = 日, 号

[weekday]
1 = 周一, 星期一, 礼拜一
2 = 周二, 星期二, 礼拜二
3 = 周三, 星期三, 礼拜三
4 = 周四, 星期四, 礼拜四
5 = 周五, 星期五, 礼拜五
6 = 周六, 星期六, 礼拜六
7 = 周日, 周天, 星期日, 星期天, 礼拜天

[relative]
yesterday = 昨天, 昨日
last night = 昨夜, 昨晚
today = 今天, 今日
tonight = 今晚, 今夜
tomorrow = 明天, 明日
after tomorrow = 后天
last week = 上周, 上星期, 上个星期, 上礼拜
next week = 下周, 下星期, 下个星期
this week = 本周, 这周, 这个星期
last month = 上月, 上个月
next month = 下月, 下个月
this month = 本月, 这个月
last quarter = 上季度, 上个季度
this quarter = 本季度
last year = 去年
next year = 明年
this year = 今年
noon = 中午, 正午
midnight = 午夜, 半夜
now = 现在, 目前
spring = 春天, 春季
summer = 夏天, 夏季
autumn = 秋天, 秋季
winter = 冬天, 冬季

[meridiem]
am = 上午, 早上, 早晨, 凌晨
pm = 下午, 晚上, 傍晚

[period]
minute = 分钟
hour = 小时, 个小时
day = 天
week = 个星期, 周
month = 个月
quarter = 个季度, 季度
year = 周年

[comparator]
at most = 最多, 至多, 不超过, 不多于, 不要超过
at least = 最少, 至少, 不少于, 不低于
over = 超过, 多于, 大于, 高于, 以上
under = 少于, 小于, 低于, 以下, 不到
about = 大约, 大概, 左右, 约
exactly = 正好, 恰好, 刚好

[negation]
不, 不要, 没有, 没, 未, 无, 别, 勿, 非, 不得, 不能, 不会, 并未, 并非, 毫无

[language]
english = 英文, 英语
chinese = 中文, 汉语, 普通话
italian = 意大利语, 意大利文
polish = 波兰语, 波兰文
ukrainian = 乌克兰语, 乌克兰文
french = 法语, 法文
german = 德语, 德文
spanish = 西班牙语, 西班牙文
portuguese = 葡萄牙语, 葡萄牙文
dutch = 荷兰语, 荷兰文
russian = 俄语, 俄文
japanese = 日语, 日文
korean = 韩语, 韩文, 朝鲜语
arabic = 阿拉伯语
turkish = 土耳其语
czech = 捷克语
hungarian = 匈牙利语
romanian = 罗马尼亚语
greek = 希腊语
swedish = 瑞典语
norwegian = 挪威语
danish = 丹麦语
finnish = 芬兰语
lithuanian = 立陶宛语
vietnamese = 越南语
thai = 泰语
latin = 拉丁语
cantonese = 粤语, 广东话

[tone]
formal = 正式, 正式的语气, 用正式语气, 正式语气
informal = 非正式, 口语化, 随意
neutral = 中性, 中立, 客观
playful = 俏皮
humorous = 幽默, 诙谐
serious = 严肃, 认真
ironic = 讽刺, 反讽
teasing = 调侃
polite = 礼貌, 礼貌地, 有礼貌
cold = 冷淡, 冷淡地
rude = 粗鲁, 生硬
sensational = 耸动, 煽情
alarming = 惊悚
calm = 平静, 冷静
enthusiastic = 热情
critical = 批判
professional = 专业
short = 简短, 简要, 简洁, 简明
long = 长篇
detailed = 详细, 详尽

[scope]
never = 从不, 从未, 绝不
only = 只, 仅, 仅仅, 只有, 只要
all = 所有, 全部, 每个, 每, 整个, 一切
some = 部分
other = 其他, 其它, 另一个, 别的
before = 之前, 以前
after = 之后, 以后
within = 以内, 之内
during = 期间
except = 除了, 除外, 除
more = 更多
less = 更少

[question]
why = 为何, 为什么, 的原因, 原因
who = 谁
when = 何时, 什么时候, 几点
where = 哪里, 哪儿, 在哪
how many = 多少, 几个
how = 如何, 怎么, 怎样
can = 是否可以, 可不可以

[turn]
in = 在
for = 为
give = 给
to = 对, 向
and = 和, 与, 并, 并且, 以及
or = 或, 或者, 还是
i = 我
you = 你, 您
my = 我的
your = 你的, 您的
our = 我们的
his = 他的
her = 她的
their = 他们的, 她们的

[opposed]
- = for, to, or, by, your, our, his, their, her
for = by, from
from = to
and = or
i = you
my = your, our, his, her, their
your = our, his, her, their
our = his, her, their
his = her, their
her = their
in = from, to
to = give, for

[relation]
from = 从, 由
than = 比
by = 被

[ordinal]
1 = 首个, 第一
2 = 第二
3 = 第三
4 = 第四
5 = 第五
6 = 第六
7 = 第七
8 = 第八
9 = 第九
10 = 第十

[numbered]
th = 第

[word]
标题 = 标题, 起标题, 取标题, 想标题, 拟标题, 写标题, 题目
文章 = 文章, 稿子, 稿件
新闻 = 新闻
标签 = 标签, 打标签, 加标签, 添加标签, 写标签
总结 = 总结, 总结成, 概括成, 概括, 概述, 小结, 摘要, 简述, 简要说明, 归纳
翻译 = 翻译, 翻译成, 译成, 翻成, 翻译一下, 怎么说
分类 = 分类, 归类, 类别, 的类别, 属于哪一类, 分成, 分为, 判断类别
照片 = 照片, 图片, 相片
提到 = 提到, 要提到, 要提及, 提及, 说到
包含 = 包含, 包括, 含有
通过 = 通过, 获通过
批准 = 批准, 准许
接受 = 接受, 同意, 答应
拒绝 = 拒绝, 否决, 驳回
可以 = 可以, 允许
讲话 = 讲话, 讲了什么, 发言
升 = 升至, 升到, 上升到, 上升至
降 = 降至, 降到, 下降到, 下降至
判断 = 判断, 判定
帖子 = 帖子, 帖文
版面 = 版面
情感 = 情感, 情感倾向
回答 = 回答, 回复, 答复
语气 = 语气, 口吻
称呼 = 称呼
