"""Pages for the lint tests: one that no rule has a word about, and ways to spoil it."""

from __future__ import annotations

from datetime import date

from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import WikiPage

TODAY = date(2026, 11, 30)

PROSE = (
    "內部 API Gateway 的權杖在 90 天後過期，過期前 7 天開始寄出提醒信，收件人是服務的負責人。"
    "提醒信裡有換發用的連結，也有這個服務目前使用的權杖名稱與建立日期，收到後請在期限內完成換發。"
)

BODY = f"""
# 權杖輪替

權杖每 90 天過期；呼叫 `/refresh` 換發，舊權杖保留 5 分鐘寬限期。

## 過期週期

{PROSE}

權杖的有效期限由平台組設定，單一服務不能自行延長；需要更長期限時，改用服務帳號的憑證，由平台組審核後核發。

## 換發步驟

先以目前的權杖呼叫換發端點，再把新權杖寫入密鑰庫，最後重新啟動服務。三個步驟都成功才算完成，任何一步失敗都可以重做。

```sh
curl -X POST https://gateway.internal/refresh
```

換發後舊權杖仍可使用 5 分鐘，這段時間內的請求不會中斷；超過寬限期仍使用舊權杖的請求會收到 401，並記錄在稽核日誌。

## 常見錯誤

權杖遺失時無法換發，只能由平台組重新核發；回應 403 表示服務帳號沒有換發權限，請先申請角色，再重新執行換發步驟。
權杖洩漏時立刻呼叫撤銷端點，不必等待過期；撤銷後一分鐘內所有節點都會拒絕該權杖。
"""

FIELDS = {
    "title": "權杖輪替",
    "scope": "內部 API Gateway",
    "summary": "90 天過期週期、/refresh 換發端點、5 分鐘寬限期",
    "keywords": "[權杖, token, 換發, refresh]",
    "updated": "2026-08-18",
    "status": "current",
}


def page_text(*, body: str = BODY, **fields: str | None) -> str:
    """The clean page's text with some fields changed (None leaves one out); values are written as YAML."""
    values = {**FIELDS, **{name.rstrip("_"): value for name, value in fields.items()}}
    lines = [f"{name}: {value}" for name, value in values.items() if value is not None]
    return "\n".join(["---", *lines, "---", body.removeprefix("\n") if body.startswith("\n\n") else body])


def page(path: str = "auth/token.md", *, body: str = BODY, **fields: str | None) -> WikiPage:
    return read_page(path, page_text(body=body, **fields).encode())


def other_body(title: str, *, subject: str = "備份", extra: str = "") -> str:
    """A clean body that shares no sentence with ``BODY``."""
    return f"""
# {title}

{subject}每天執行兩次，每次約十分鐘，失敗時自動重試三次。{extra}

## 執行時間

{subject}在凌晨兩點與下午兩點開始，由排程主機啟動；節慶期間改為一次，時間由值班人員決定並寫在行事曆。
{subject}執行時資料庫仍可讀寫，只有大型索引會暫停更新，結束後自動恢復，使用者通常不會察覺。

## 還原方式

還原{subject}前先確認版本號，再把檔案下載到暫存主機驗證雜湊，相符後才覆蓋正式資料；整個過程需要兩人同時在場。
還原完成後抽查十筆資料，與{subject}清單核對，結果記入工單；不符時保留現場並通知值班主管。

## 保留期限

每日的{subject}保留三十天，每月第一份保留一年，到期由清理程式刪除；需要長期保存的資料另外存放在離線媒體。
刪除前寄出清單，負責人有三天可以提出保留；沒有回覆就依期限刪除，刪除紀錄保存五年備查。

## 容量與費用

{subject}每月約使用四百 GB，放在兩個機房，費用由平台組支付；超過五百 GB 時通知各服務負責人檢查是否有不必要的檔案。
壓縮後的大小約為原始資料的四成，影音檔不再壓縮；各服務的用量列在每月報表，可以依服務與日期查詢。
新服務上線前估計{subject}所需的空間，寫進上線檢查表；估計與實際相差一倍以上時，值班主管會要求重新評估並調整配額。
配額不足時先暫停影音檔的{subject}，再通知負責人；資料庫永遠優先，不受配額影響。
"""
