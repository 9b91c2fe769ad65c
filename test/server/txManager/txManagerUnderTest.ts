import { onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { currentFees } from '../../../src/chain/fees.js'
import { createRpc } from '../../../src/chain/rpc.js'
import { type AnvilOptions, startAnvil } from '../../../src/sandbox/anvil.js'
import { createPrivateSigner } from '../../../src/server/signer/signer.js'
import type { SignedTransaction } from '../../../src/server/signer/transaction.js'
import { createBroadcaster } from '../../../src/server/txManager/broadcast.js'
import type { Owner, TxOutcome } from '../../../src/server/txManager/pendingTx.js'
import { createTxManager } from '../../../src/server/txManager/txManager.js'
import { Secret } from '../../../src/service/secret.js'
import { createTimedValue } from '../../../src/service/waiting.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { createLogLines } from '../../support/logLines.js'
import { soon } from '../relay/relayUnderTest.js'

const quantity = z.string().transform(Number)
const poolSchema = z.object({ pending: quantity, queued: quantity })

const GWEI = 1_000_000_000n
const TRANSFER_GAS = 21_000n

/** One call, as the transaction manager has treated it. */
export interface Sent {
  /** Everything that was signed for it, oldest first. */
  readonly saved: SignedTransaction[]
  readonly outcome: Promise<TxOutcome>
  /** Whether there is an outcome, or the call has failed. */
  hasEnded: boolean
  /** How often it was reported as taken back. */
  dropped: number
}

export type TxManagerUnderTest = Awaited<ReturnType<typeof startTxManager>>

/** The clock of the process stands still until the test ends, but for what `pass` adds to it. */
export function standStill() {
  let now = Math.ceil(performance.now())
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return {
    pass(ms: number) {
      now += ms
    },
  }
}

/** A transaction manager on a chain of its own, without contracts; blocks are mined on demand. */
export async function startTxManager(options: {
  readonly anvil?: AnvilOptions
  readonly resubmitAfterMs?: number
  readonly confirmations?: number
  readonly saveNoOp?: Owner['save']
  readonly trailingMs?: number
}) {
  const anvil = await startAnvil(options.anvil)
  onTestFinished(() => anvil.stop())
  const proxy = await startFaultProxy(anvil.rpcUrl)
  const { chainId, accounts } = anvil
  const rpc = createRpc({ urls: [proxy.url], timeoutMs: 10_000, chainId })
  const direct = anvil.provider
  const [account, other] = accounts
  if (account === undefined || other === undefined) throw new Error('the chain has no accounts')
  const signer = createPrivateSigner(new Secret(account.privateKey))
  const log = createLogLines()
  const txManager = createTxManager({
    rpc,
    broadcaster: createBroadcaster(rpc),
    signer,
    fees: createTimedValue(10, () => currentFees(rpc, 500n * GWEI)),
    chainId,
    confirmations: options.confirmations ?? 1,
    maxInFlight: 64,
    resubmitAfterMs: options.resubmitAfterMs ?? 30_000,
    pollIntervalMs: 10,
    maxFeePerGas: 500n * GWEI,
    trailingMs: options.trailingMs ?? 2_000,
    isTrusted: () => true,
    saveNoOp: options.saveNoOp ?? (async () => undefined),
    onNoOpSent: () => undefined,
    onForeign: () => undefined,
    logger: log.logger,
  })
  await direct.send('evm_setAutomine', [false])
  await txManager.service.start()
  onTestFinished(() => txManager.service.stop())

  function track(run: (owner: Owner) => Promise<TxOutcome>, save?: Owner['save']): Sent {
    const saved: SignedTransaction[] = []
    const owner: Owner = {
      async save(transaction) {
        await save?.(transaction)
        saved.push(transaction)
      },
      counted: () => undefined,
      isNeeded: async () => true,
      used: () => undefined,
      lost: () => undefined,
      dropped: () => sent.dropped++,
    }
    const sent: Sent = { saved, dropped: 0, hasEnded: false, outcome: run(owner) }
    const end = () => {
      sent.hasEnded = true
    }
    // A test may look at a failure later, or have failed before.
    void sent.outcome.then(end, end)
    return sent
  }

  const call = { to: other.address, data: '0x', gasLimit: TRANSFER_GAS } as const
  return {
    proxy,
    log,
    txManager,
    relayer: signer.address,
    rpc: (method: string, ...params: unknown[]): Promise<unknown> => direct.send(method, params),
    async mine() {
      await direct.send('evm_mine', [])
    },
    /** A transfer of one wei, which nothing can make fail. */
    send: (save?: Owner['save']) => track((owner) => txManager.send(call, owner), save),
    /** Transactions of the account in blocks. */
    count: () => direct.getTransactionCount(signer.address),
    /** Transactions in the node's pool. */
    async pooled() {
      const { pending, queued } = poolSchema.parse(await direct.send('txpool_status', []))
      return pending + queued
    },
    /** Resolves once the node has had so many more requests with this method: each look has the default. */
    async asked(times: number, method = 'eth_getTransactionCount') {
      const count = () => proxy.requests.filter((methods) => methods.includes(method)).length
      const before = count()
      await soon(count).toBeGreaterThanOrEqual(before + times)
    },
  }
}
