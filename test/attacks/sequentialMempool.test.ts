// Actor: ordinary clients, without an attacker: a burst of orders on a chain whose nodes take only an account's next nonce (Arbitrum's class).
// Cost: nothing.
// Effect: the relay took a refusal that came before a transaction's turn for final. Fillers, which the relayer pays for, replaced good
// transactions. Every waiting one offered 12.5 % more every 30 seconds: 2 no-ops and 148 raises for 60 posts.
// Now: a refusal before a nonce's turn costs nothing.
import { Transaction } from 'ethers'
import { expect, test } from 'vitest'
import { readTransaction } from '../../src/server/signer/transaction.js'
import { startTxManager, type TxManagerUnderTest } from '../server/txManager/txManagerUnderTest.js'
import { eventually } from '../support/eventually.js'

const POSTS = 60

/** From now on the node refuses every transaction but the one whose nonce is the next on the chain. */
function takeOnlyTheNext({ proxy, count }: TxManagerUnderTest): void {
  let next = 0
  // Read for each request: a count that is older than a block the relay has seen would refuse a nonce in its turn.
  proxy.hold = async () => {
    next = Math.max(next, await count())
  }
  proxy.answer = ({ method, params: [raw] }) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const { nonce } = Transaction.from(String(raw))
    if (nonce <= next) return undefined
    return { error: { code: -32_000, message: `nonce too high: tx: ${nonce} state: ${next}` } }
  }
}

test('a burst gets no no-op, and offers no more than it did', async () => {
  // Far below the time that sixty blocks take here.
  const under = await startTxManager({ resubmitAfterMs: 2_000 })
  takeOnlyTheNext(under)
  const sent = Array.from({ length: POSTS }, () => under.send())
  await eventually('all transactions to be mined', async () => {
    await under.mine()
    return sent.every(({ hasEnded }) => hasEnded)
  })
  for (const { outcome } of sent) expect(await outcome).toMatchObject({ kind: 'mined' })
  const signed = sent.flatMap(({ saved }) => saved)
  const noOps = signed.filter(({ raw }) => readTransaction(raw).to === under.relayer)
  expect(noOps).toHaveLength(0)
  // One transaction for each post: none was raised.
  expect(signed).toHaveLength(POSTS)
  expect(await under.count()).toBe(POSTS)
  expect(under.log.text()).not.toContain('transaction refused by all nodes')
})
