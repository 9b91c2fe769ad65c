// Verdicts against doctored outcomes.
import { Transaction, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import type { AuditEvent } from './audit.js'
import { lateRows } from './history.js'

const wallet = new Wallet(`0x${'07'.repeat(32)}`)
const RELAYER = `relayer:${wallet.address}`
/** Signed by the relayer's account. */
const sign = (data: string) =>
  wallet.signTransaction({ nonce: 7, to: wallet.address, data, gasLimit: 50_000, gasPrice: 1, chainId: 1 })

/** Numbered and timed by their places. */
function history(...events: Partial<AuditEvent>[]): AuditEvent[] {
  return events.map((event, index) => ({
    ...{ seq: index + 1, at: (index + 1) * 1_000, server: '0.1', kind: 'insert', table: 'relays' },
    ...{ id: '0x01', isOpen: true, doc: '{}', ...event },
  }))
}

const take = (id: string, server: string): Partial<AuditEvent> => ({
  ...{ table: 'leases', id, server, doc: 'a-term' },
})
const signed = (raw: string): Partial<AuditEvent> => ({
  kind: 'update',
  doc: JSON.stringify({ transactions: [{ nonce: 7, hash: Transaction.from(raw).hash, raw }] }),
})

test.each<[string, Partial<AuditEvent>]>([
  ['narrator', { table: 'state', id: 'narrator' }],
  ['trigger', { table: 'runs', doc: JSON.stringify({ job: 'order' }) }],
  ['trigger', { table: 'runs', doc: JSON.stringify({ job: 'reconcile' }) }],
  [RELAYER, signed(await sign('0x11'))],
  [RELAYER, { table: 'state', id: `no-op:${wallet.address}:7`, doc: '[]' }],
])('a row of an earlier term after the take of %s is found', (lease, row) => {
  const events = history(take(lease, '0.1'), take(lease, '1.1'), row)
  expect(lateRows(events)).toHaveLength(1)
})
