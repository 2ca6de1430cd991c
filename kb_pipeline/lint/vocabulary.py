"""The words that the rules know, zh-TW and English: categories, types of document, ways to announce a topic.

Word lists and their patterns only; projects add to the first two by ``LintPolicy``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """A list of words that stays readable in the source."""
    return frozenset(text.split())


CATEGORIES = word_set(
    """
    認證 授權 驗證 登入 權限 帳號 前端 後端 全端 資料庫 資料 網路 資安 安全 安全性 維運 營運 運維 部署 測試 監控 架構 基礎設施
    開發 設計 產品 行銷 業務 財務 人資 法務 客服 管理 工程 技術 系統 平台 環境 服務 工具 流程 設定 組態 除錯 效能 日誌
    技術文件 文件 說明文件 教學 教學文件 教程 筆記 隨筆 日記 開發日誌 開發日記 指南 手冊 規範 規格 規格書 參考 會議記錄 會議紀錄
    紀錄 記錄 知識庫 知識 常見問題 問答 其他 其它 一般 通用 雜項 未分類 全部 內部 外部 公司 團隊 專案
    auth authentication authorization security login permissions account accounts frontend front-end backend back-end
    fullstack full-stack database databases db network networking devops ops operations infrastructure infra deployment
    deploy testing test tests monitoring observability architecture development design product marketing sales finance
    hr legal support management engineering technology technical system systems platform environment service services
    tool tools process workflow config configuration settings debugging performance logging
    doc docs document documents documentation tutorial tutorials guide guides how-to howto manual reference references
    spec specs specification specifications note notes diary devdiary log logs meeting meetings minutes faq faqs wiki
    knowledge misc miscellaneous other others general common uncategorized uncategorised all internal external company
    team project projects
    """
)
"""Words that say what kind of page it is and never which system (SPEC 5, scope)."""

DOCUMENT_TYPES = word_set(
    """
    tutorial tutorials guide guides how-to how-tos howto howtos reference references explanation explanations concept
    concepts manual manuals doc docs document documents documentation note notes diary devdiary devlog devlogs journal
    journals log logs incident incidents postmortem postmortems decision decisions adr adrs rfc rfcs spec specs
    specification specifications runbook runbooks playbook playbooks meeting meetings minutes faq faqs report reports
    article articles post posts wiki misc miscellaneous other others
    教學 教程 指南 手冊 操作手冊 參考 參考資料 文件 技術文件 說明 說明文件 筆記 隨筆 日記 日誌 開發日記 開發日誌 事件 事故 事故報告
    決策 決策紀錄 決策記錄 規格 規格書 規範 會議 會議記錄 會議紀錄 常見問題 問答 報告 文章 雜項 其他 其它 未分類
    """
)
"""Folder names that say what kind of document lies there, not which domain it belongs to."""

_SEPARATORS = re.compile(r"[,，、/;；&+|]|\s+(?:and|or)\s+|[與和及]")
_SUFFIX = re.compile(
    r"(?:相關|類|類別|領域|方面|部分|文件|文檔|資料|筆記|篇)$|\s+(?:docs?|documentation|notes?|stuff|related)$"
)

TOPIC = re.compile(
    r"相關(?!係數|性|矩陣|分析|子查詢)|的說明|的介紹|介紹(?!人|費|信|所)|的概述|的簡介|的總覽"
    r"|^(?:本文|本頁|此文|此頁|這份文件|這篇|本文件)?(?:主要)?(?:說明(?!書)|描述(?!檔)|概述|簡介|討論(?!區|串)|探討|關於)"
    r"|\b(?:introduc(?:es?|ing|tion)|overview|describ(?:es?|ing)|explain(?:s|ing)?|explanations?|discuss(?:es|ion))\b"
    r"|\b(?:related to|information (?:on|about|regarding)|details (?:on|about)|(?:a )?guide to|everything about)\b"
    r"|^(?:all )?about (?!\d)|\bthis (?:page|document|article|file|note|guide)\b",
    re.IGNORECASE,
)
"""A summary that says what a page is about in place of what is in it."""

ANNOUNCEMENT = re.compile(
    r"^(?:本文|本頁|本篇|本章|本節|本文件|本手冊|本指南|此文|此頁|這份文件|這個文件|這篇文章|這篇|這一頁|這個頁面|以下|下面|接下來)"
    r"[^。！？\n]{0,12}?(?:介紹|說明|描述|整理|記錄|紀錄|概述|討論|探討|列出|包含|涵蓋|旨在|將)"
    r"|^(?:this|the following) (?:page|document|article|guide|note|section|file|tutorial|runbook)\W+"
    r"(?:will |also )?(?:describ|explain|cover|introduc|is about|contain|provid|outlin|discuss|list|show|walk)"
    r"|^in this (?:page|document|article|guide|note|section|tutorial)\b"
    r"|^(?:目錄|前言|簡介|背景|概述|table of contents|contents|introduction|background|overview|toc)\W*$",
    re.IGNORECASE,
)
"""A first paragraph that announces what will follow."""


def folded(text: str) -> str:
    """Comparison form of a name: NFKC, lower case, one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@lru_cache(maxsize=16)
def folded_set(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(folded(word) for word in words)


def is_category(scope: str, extra: tuple[str, ...] = ()) -> bool:
    """Whether every part of ``scope`` is a category word (``後端``, ``認證、後端``, ``auth docs``)."""
    more = folded_set(extra)

    def known(part: str) -> bool:
        bare = _SUFFIX.sub("", part).strip()
        return any(form in CATEGORIES or form in more for form in (part, bare))

    parts = [part for part in map(str.strip, _SEPARATORS.split(folded(scope))) if part]
    return bool(parts) and all(known(part) for part in parts)


def is_document_type(folder: str, extra: tuple[str, ...] = ()) -> bool:
    name = folded(folder).replace("_", "-").replace(" ", "-")
    return name in DOCUMENT_TYPES or name in folded_set(extra)
