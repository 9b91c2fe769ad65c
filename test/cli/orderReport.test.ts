import { expect, it } from 'vitest'
import { orderReport } from '../../src/cli/commands/orderReport.js'
import { renderBlocks } from '../../src/terminal/render.js'

type Status = Parameters<typeof orderReport>[0]
const status: Status = {
  ...{ orderId: `0x${'11'.repeat(32)}`, state: 'OPEN', account: `0x${'a1'.repeat(20)}`, amount: 0n },
  ...{ deadline: null, commit: null, receivedAt: null, triggers: [], nextTriggerAt: null, notice: null },
}

it('says of a run that failed what comes next', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const failed = { attempt: 1, reason: 'received', startedAt: at, finishedAt: at, outcome: 'failed' } as const
  const { blocks } = orderReport({ ...status, triggers: [failed] }, null)
  expect(renderBlocks(blocks, 'people')).toContain(
    "1, last: failed, is tried again; if it goes on, tell the platform's operator",
  )
})

it('shows the USDC in escrow, or the shares of a deposit', () => {
  const escrowedOf = (changes: Partial<Status>) => {
    const { blocks, json } = orderReport({ ...status, ...changes }, null)
    return { shown: /escrowed +(.*)/.exec(renderBlocks(blocks, 'people'))?.[1], json }
  }
  expect(escrowedOf({ amount: 1_250_500_000n })).toMatchObject({
    shown: '1,250.5 USDC',
    json: { amount: '1250500000' },
  })
  expect(escrowedOf({}).json).not.toHaveProperty('deposit')
  expect(escrowedOf({ deposit: { symbol: 'AAPL', shares: 2_500_000_000n } })).toMatchObject({
    shown: '2.5 AAPL',
    json: { amount: '0', deposit: { symbol: 'AAPL', shares: '2500000000' } },
  })
})
