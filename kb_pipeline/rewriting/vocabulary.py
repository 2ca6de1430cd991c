"""Word lists of the offline rewriter, zh-TW and English.

Belongs here: words alone, each list with what it is for. Does not belong here: patterns with grammar in them, which stand
beside the code that uses them, and the words that the product writes (``language``).
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """A list of words that stays readable in the source."""
    return frozenset(text.split())


def word_tuple(text: str) -> tuple[str, ...]:
    """The same, where the order counts."""
    return tuple(text.split())


DOCUMENT_TYPES = word_set(
    """
    adr adrs article articles blog blogs changelog changelogs concept concepts daily decision decisions dev-diary
    devdiary devlog devlogs diaries diary doc docs document documentation documents draft drafts explanation
    explanations faq faqs guide guides how-to how-tos howto howtos imports inbox incident incidents journal journals
    knowledge log logs manual manuals markdown md meeting meetings memo memos minutes misc miscellaneous note notebook
    notebooks notes other others page pages playbook playbooks post postmortem postmortems posts raw readme reference
    references report reports retro retros retrospective retrospectives rfc rfcs runbook runbooks spec specification
    specifications specs tutorial tutorials uncategorized wiki 事件 事故 事故報告 事後檢討 參考 參考資料 報告 手冊
    指南 操作手冊 文件 文章 技術文件 日記 日誌 會議 會議記錄 會議紀錄 決策 決策紀錄 決策記錄 草稿 常見問題 問答 教學
    教程 筆記 紀錄 規格 規格書 規範 記錄 說明 說明文件 雜記 雜項 隨筆 開發日誌 開發日記 其他 其它 未分類
    """
)
"""Folders that say what kind of text is in them, not what it is about (SPEC 5, 9: folders are domains)."""

GENERIC_HEADINGS = word_set(
    """
    about background consequences contents decision decisions details discussion documentation faq guide home impact
    index info information intro introduction miscellaneous notes overview preface prerequisites purpose readme
    reference references resolution runbook runbooks setup solution summary symptoms timeline todo troubleshooting
    usage 後果 做法 作法 決策 決議 待辦 待辦事項 行動項目 時間軸 影響 處置 結論 原因 根因 症狀 解法 現況 狀態 附錄
    其他 討論 介紹 內容 參考 名詞解釋 問題 常見問題 摘要 概述 概要 概觀 目的 目錄 簡介 總覽 背景 說明 前言
    """
) | {
    "action items", "getting started", "lessons learned", "next steps", "possible checks", "quick start", "release notes",
    "root cause", "see also", "table of contents", "document details",
}  # fmt: skip
"""Headings that any document may have: as a title they need the folder's or file's name beside them, and as keywords
or summary they tell nothing."""

LATIN_STOP = word_set(
    """
    a able about above access add after all allow also am an and another any app application apply are article as at
    available back basic be because been before being below best between both but by can case change check click code
    com command commands common complete configuration configure contains could create data default define delete
    details did different do document does doing done down each edit either else enable end ensure error errors etc
    every example examples existing false few file files find first follow following for format from full function get
    give go good guide had handle has have having help here high how however html http https if important in include
    including index info information input instance instead into is issue issues it item its just keep know known last
    later learn left less let level like line link list local log logs look low made make manage many may md me mean
    message method might more most move much must my name need net never new next no none not note notes now number of
    off often ok old on once one only open option optional options or order org other our out output over own page
    parameter part parts path per point possible prerequisites process provide put query read readme reason
    recommended reference related remove required requirement result results return right run running same sample
    section sections see select set setting settings setup several should show simple since single size so some source
    specific specified start state status step steps still stop string such sure system table take tell test text than
    that the their them then there these they thing this those through time times to todo too true try two type types
    under up update upon us usage use used user users uses using value values various version very via view want was
    way we well were what when where whether which while who why will with within without work works would write www
    yes yet you your
    label labels service services overview
    """
)
"""Function words, and words that stand in every manual: nobody finds one page among many by them."""

CHINESE_VERBS = word_tuple(
    """
    使用 進行 設定 設置 建立 建構 新增 選取 選擇 指定 提供 支援 需要 必須 應該 目前 現在 已經 執行 產生
    包含 包括 允許 啟用 停用 輸入 輸出 透過 根據 關於 開始 完成 作為 同時 刪除 修改 更新 移除 取得 取代
    定義 介紹 說明 瞭解 了解 查看 檢視 檢查 確認 按下 按一下 點選 下列 以下 如下 上述 本文 後續 其他 不同
    多個 相同 相關 必要 可能 另一 這個
    """
)
"""Words that stand before a term and are no part of it."""

CHINESE_NOISE = word_set(
    """
    使用 進行 設定 建立 如下 下列 以下 以上 說明 內容 相關 介紹 範例 步驟 結果 問題 方法 方式 功能 資料 資訊 文件 注意
    選取 選擇 新增 刪除 修改 更新 指定 提供 支援 需要 必須 應該 目前 現在 已經 其他 不同 多個 一個 本文 章節 概述 總覽
    簡介 背景 目的 結論 參考 執行 處理 產生 包含 包括 允許 啟用 輸入 輸出 類型 名稱 參數 描述 傳回 查詢 預設 命令 語法
    引數 必要 備註 另外 因此 之後 之前 開始 完成 情況 部分 先決條件 必要條件 後續 後續步驟 詳細 詳細資訊 更多 表示
    作為 同時 例如 透過 根據 關於 所需 適用 格式 工作 用於 對應 取得 條件 定義 檔案 索引標籤 下一步 文件資料 另見
    清除資源 儲存 其中 項目 方案 進階 基本 相同 可能 時間 內部 外部 按下 完整 一般 常見 如何
    """
)
"""Chinese words that stand in every manual."""

NO_ABBREVIATIONS = word_set(
    """
    AND CAUTION DO FAQ FIXME FOR IF IMPORTANT IN NB NO NOT NOTE OK OR TBD THE TIP TO TODO WARNING WIP YES
    """
)
"""Capitals that only shout."""

CODE_WORDS = word_set(
    """
    and any async await bool boolean break case catch class console const continue def default delete describe elif
    else end export false final finally float for foreach from func function get going has if import in include int
    interface lambda let match module namespace new nil none not null object of package private protected public raise
    return self set static string struct super switch text then this throw true try type using var void where while
    with yield
    """
)
"""Key words of programming languages."""
