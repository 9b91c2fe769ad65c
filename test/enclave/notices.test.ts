import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type NoticeCode, noticeCodes, noticeOf } from '../../src/enclave/notices.js'
import { openNotice } from '../../src/protocol/notice.js'
import { USER_KEY, USER_PUBKEY } from './support/parties.js'

const page = readFileSync(new URL('../../docs/enclave.md', import.meta.url), 'utf8')
/** Without the spaces that align its tables. */
const rows = page.replace(/ +\|/g, ' |')
const ORDER_ID = `0x${'5a'.repeat(32)}` as const

describe('a notice', () => {
  it.each(noticeCodes.map((code) => [code]))('%s is sealed to the employee and on the page', async (code) => {
    const sealed = await noticeOf(ORDER_ID, code, USER_PUBKEY)
    const notice = await openNotice(sealed, USER_KEY, ORDER_ID)
    expect(notice).toMatchObject({ orderId: ORDER_ID, code })
    expect(rows).toContain(`| \`${code}\` | ${notice.message} |`)
  })

  it('is on the page only if it exists', () => {
    const table = page.slice(page.indexOf('## Notices'))
    const listed = [...table.matchAll(/^\| `([a-z-]+)`/gm)].map(([, code]) => code)
    expect(listed).toEqual(noticeCodes satisfies readonly NoticeCode[])
  })

  it('has one size, whatever it says', async () => {
    const sealed = await Promise.all(noticeCodes.map((code) => noticeOf(ORDER_ID, code, USER_PUBKEY)))
    expect(new Set(sealed.map(({ ct }) => ct.length)).size).toBe(1)
  })
})
