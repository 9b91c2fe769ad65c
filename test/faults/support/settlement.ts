import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Receipt } from '../../../src/protocol/api.js'
import { storedRecord } from '../../server/relay/relayUnderTest.js'
import type { TestChain } from '../../support/chain.js'
import { note, type Told } from './callers.js'
import { type MinedTransaction, readChain } from './chainRecord.js'
import { type Client, hasEnded } from './client.js'
import { STALL_BOUND_MS } from './settings.js'
import { faultsOf } from './verdict.js'
import type { Work } from './workload.js'

const PAUSE_MS = 200
const PATIENCE_MS = 10_000
const NOT_FOUND = 404

export interface SettleOptions {
  readonly chain: TestChain
  readonly client: Client
  readonly told: ReadonlyMap<Work, Told>
  readonly dataDir: string
}

/**
 * Nothing goes wrong any more: everything is followed to its end by asking alone. Posted again is only what no server
 * has ever taken on, and what had ended, and was then taken back by a reorganization that no server saw.
 */
export async function settle({ chain, client, told, dataDir }: SettleOptions) {
  const giveUpAt = performance.now() + STALL_BOUND_MS
  const violations: string[] = []
  let takenBack = 0

  async function follow(work: Work, heard: Told): Promise<void> {
    while (performance.now() < giveUpAt) {
      const response = await client.get(work)
      note(heard, response)
      if (hasEnded(response)) return
      if (response?.status === NOT_FOUND) {
        if (work.plan.kind === 'rival' && heard.refused) return
        if (heard.acceptedAt !== undefined) await judge(work)
        note(heard, await client.post(work, 1, PATIENCE_MS))
      }
      await sleep(PAUSE_MS)
    }
    violations.push(
      `${work.plan.kind} ${work.digest}: not at its end ${STALL_BOUND_MS} ms after the last fault`,
    )
  }

  async function judge({ digest, plan }: Work): Promise<void> {
    const record = await storedRecord(dataDir, digest)
    if (record !== undefined && hasEnded(record) && (await isTakenBack(record.receipt))) takenBack++
    else violations.push(`${plan.kind} ${digest}: taken on, and forgotten`)
  }

  /** Its transaction is not on the chain any more, or not where it was. */
  async function isTakenBack({ txHash, blockNumber }: Receipt): Promise<boolean> {
    const mined = txHash === null ? null : await chain.provider.getTransactionReceipt(txHash)
    return mined === null || mined.blockNumber !== blockNumber
  }

  await Promise.all([...told].map(([work, heard]) => follow(work, heard)))
  return { violations, takenBack }
}

export interface ExamineOptions {
  readonly chain: TestChain
  readonly client: Client
  readonly work: readonly Work[]
  readonly patienceMs: number
}

/** Holds everything against the chain. Looks again for a while: a reorganization may just be noticed. */
export async function examine(options: ExamineOptions) {
  const giveUpAt = performance.now() + options.patienceMs
  for (;;) {
    const [cases, account] = await Promise.all([examineWork(options), examineAccount(options.chain)])
    const violations = [...cases.violations, ...account]
    if (violations.length === 0 || performance.now() > giveUpAt) {
      return { violations, transactions: cases.transactions }
    }
    await sleep(PAUSE_MS)
  }
}

async function examineWork({ chain, client, work }: ExamineOptions) {
  const relayer = chain.account('relayer')
  const mined = await readChain(chain)
  const byCalldata = groupBy(mined, ({ input }) => input.toLowerCase())
  const effects = groupBy(
    mined.filter(({ succeeded }) => succeeded).flatMap(({ subjects }) => subjects),
    (subject) => subject,
  )
  const violations = await Promise.all(
    work.map(async (one) => {
      const used = await chain.read(one.plan.kind === 'mint' ? 'pool' : 'ledger', 'usedDigest', one.digest)
      const receipt = (await client.get(one))?.receipt
      const carried = byCalldata.get(one.calldata.toLowerCase()) ?? []
      const count = effects.get(one.subject)?.length ?? 0
      return faultsOf({ work: one, receipt, carried, effects: count, used: used === true }, relayer)
    }),
  )
  const own = mined.filter(({ from }) => from.toLowerCase() === relayer.toLowerCase())
  return { violations: violations.flat(), transactions: sortOut(own, relayer) }
}

function sortOut(own: readonly MinedTransaction[], relayer: string) {
  const isNoOp = ({ to }: MinedTransaction) => to?.toLowerCase() === relayer.toLowerCase()
  const plain = own.filter(({ input }) => input === '0x')
  const calls = own.filter(({ input }) => input !== '0x')
  return {
    effects: calls.filter(({ succeeded }) => succeeded).length,
    reverted: calls.filter(({ succeeded }) => !succeeded).length,
    noOps: plain.filter(isNoOp).length,
    fromOutside: plain.filter((one) => !isNoOp(one)).length,
  }
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

const poolSchema = z.object({ pending: z.string(), queued: z.string() })

/** No nonce is open below one that is used, and nothing waits. */
async function examineAccount({ provider, account }: TestChain): Promise<string[]> {
  const relayer = account('relayer')
  const [latest, pending, pool] = await Promise.all([
    provider.getTransactionCount(relayer, 'latest'),
    provider.getTransactionCount(relayer, 'pending'),
    provider.send('txpool_status', []),
  ])
  const waiting = poolSchema.parse(pool)
  const faults: string[] = []
  if (latest !== pending)
    faults.push(`the account has ${latest} transactions in blocks, ${pending} with the pool`)
  if (Number(waiting.pending) + Number(waiting.queued) > 0) {
    faults.push(`the pool holds ${Number(waiting.pending)} pending, ${Number(waiting.queued)} queued`)
  }
  return faults
}
