import type { Transaction } from 'ethers'
import { z } from 'zod'
import { quantitySchema } from '../../../src/chain/jsonRpc.js'
import { sameAddress } from '../../../src/protocol/address.js'
import type { Receipt } from '../../../src/protocol/api.js'
import { bytes32Schema, type Hex } from '../../../src/protocol/hex.js'
import { INTERFACES, type TestChain } from '../../support/chain.js'
import { storedRows, storedText } from '../../support/storedRows.js'
import { groupBy } from '../engine/storm.js'
import type { Callers, Client } from './callers.js'
import type { Work } from './workload.js'

export interface ExamineOptions {
  readonly chain: TestChain
  readonly client: Client
  readonly work: readonly Work[]
}

/** Holds every authorization and the relayer's account against the chain. */
export async function examine(options: ExamineOptions): Promise<string[]> {
  const found = await Promise.all([examineWork(options), examineAccount(options.chain)])
  return found.flat()
}

async function examineWork({ chain, client, work }: ExamineOptions): Promise<string[]> {
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
  return violations.flat()
}

/** Counts the transactions of the relayer's account in blocks. */
export async function countTransactions(chain: TestChain) {
  const relayer = chain.account('relayer')
  const own = (await readChain(chain)).filter(({ from }) => sameAddress(from, relayer))
  const isNoOp = ({ to }: MinedTransaction) => to !== null && sameAddress(to, relayer)
  const plain = own.filter(({ input }) => input === '0x')
  const calls = own.filter(({ input }) => input !== '0x')
  return {
    effects: calls.filter(({ succeeded }) => succeeded).length,
    reverted: calls.filter(({ succeeded }) => !succeeded).length,
    noOps: plain.filter(isNoOp).length,
    fromOutside: plain.filter((one) => !isNoOp(one)).length,
  }
}

const poolSchema = z.object({ pending: z.string(), queued: z.string() })

/** No nonce may be open below a used one, and no transaction may wait. */
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

/** One authorization, its receipt from the relay, and its traces on the chain. */
interface Case {
  readonly work: Work
  readonly receipt: Receipt | undefined
  /** The transactions that carried it, from any account. */
  readonly carried: readonly MinedTransaction[]
  /** How many effects name its subject: its own, and its rival's. */
  readonly effects: number
  readonly used: boolean
}

/** Finds none when it has had its one effect and its receipt is true. */
function faultsOf(one: Case, relayer: string): string[] {
  const { work, receipt, carried, effects, used } = one
  const faults: string[] = []
  if (effects !== 1) faults.push(`${effects} effects`)
  const effect = carried.find(({ succeeded }) => succeeded)
  if (used !== (effect !== undefined)) faults.push('usedDigest and the events differ')
  if (effect === undefined) {
    if (work.plan.kind !== 'rival') faults.push('no effect')
    if (receipt !== undefined) faults.push(...faultsOfFailed(receipt, carried))
  } else {
    faults.push(...faultsOfConfirmed(receipt, effect, relayer))
  }
  return faults.map((fault) => `${work.plan.kind} ${work.digest}: ${fault}`)
}

function faultsOfConfirmed(
  receipt: Receipt | undefined,
  effect: MinedTransaction,
  relayer: string,
): string[] {
  if (receipt?.status !== 'confirmed') return [`has its effect, and is said to be ${receipt?.status}`]
  const isOwn = sameAddress(effect.from, relayer)
  const said = words(receipt)
  const happened = words(isOwn ? { ...effect, txHash: effect.hash } : UNKNOWN)
  return said === happened ? [] : [`the receipt says ${said}, the chain ${happened}`]
}

/** The receipt of an effect by another account's transaction. */
const UNKNOWN = { txHash: null, blockNumber: null, gasUsed: null }

function words({
  txHash,
  blockNumber,
  gasUsed,
}: Pick<Receipt, 'txHash' | 'blockNumber' | 'gasUsed'>): string {
  return txHash === null ? 'by somebody else' : `by ${txHash} in block ${blockNumber} for ${gasUsed} gas`
}

function faultsOfFailed(receipt: Receipt, carried: readonly MinedTransaction[]): string[] {
  if (receipt.status !== 'failed') return [`has no effect, and is said to be ${receipt.status}`]
  if (receipt.txHash === null) return []
  const own = carried.find(({ hash }) => hash === receipt.txHash)
  return own?.blockNumber === receipt.blockNumber ? [] : ['failed in a block that does not hold it']
}

const hexText = z.templateLiteral(['0x', z.string()])
const blockSchema = z.looseObject({
  number: quantitySchema.transform(Number),
  transactions: z.array(
    z.looseObject({ hash: bytes32Schema, from: hexText, to: hexText.nullable(), input: hexText }),
  ),
})
const receiptsSchema = z.array(
  z.looseObject({
    transactionHash: bytes32Schema,
    status: quantitySchema,
    gasUsed: quantitySchema,
    logs: z.array(z.looseObject({ topics: z.array(z.string()), data: z.string() })),
  }),
)

/** A transaction in a block. */
interface MinedTransaction {
  readonly hash: Hex
  readonly blockNumber: number
  readonly from: string
  readonly to: string | null
  readonly input: string
  readonly succeeded: boolean
  readonly gasUsed: bigint
  /** Accounts and symbols that its effects name. */
  readonly subjects: readonly string[]
}

/** Reads the whole chain, block by block. */
async function readChain({ provider }: TestChain): Promise<MinedTransaction[]> {
  const head = await provider.getBlockNumber()
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, async (_, number) => {
      const tag = `0x${number.toString(16)}`
      const [block, receipts] = await Promise.all([
        provider.send('eth_getBlockByNumber', [tag, true]),
        provider.send('eth_getBlockReceipts', [tag]),
      ])
      return transactionsOf(blockSchema.parse(block), receiptsSchema.parse(receipts))
    }),
  )
  return blocks.flat()
}

function transactionsOf(
  { number, transactions }: z.output<typeof blockSchema>,
  receipts: z.output<typeof receiptsSchema>,
): MinedTransaction[] {
  return transactions.flatMap(({ hash, from, to, input }) => {
    const receipt = receipts.find(({ transactionHash }) => transactionHash === hash)
    if (receipt === undefined) return []
    const { status, gasUsed, logs } = receipt
    const subjects = logs.flatMap(subjectOf)
    return [{ hash, blockNumber: number, from, to, input, succeeded: status === 1n, gasUsed, subjects }]
  })
}

function subjectOf(log: { topics: string[]; data: string }): string[] {
  const update = INTERFACES.ledger.parseLog(log)
  if (update?.name === 'PortfolioUpdated') return [String(update.args.accountId)]
  const mint = INTERFACES.pool.parseLog(log)
  return mint?.name === 'BatchMinted' ? [String(mint.args.symbol)] : []
}

/** Watches the write-ahead rule: a transaction that leaves the server is on its disk. */
export function createWriteAheadWatch(options: {
  dataDir: string
  relayer: string
  digestOf: (calldata: string) => Hex | undefined
}) {
  const { dataDir, relayer, digestOf } = options
  const violations: string[] = []
  return {
    violations,
    leaves({ data, to, serialized, nonce }: Transaction): void {
      if (to !== null && sameAddress(to, relayer)) {
        if (!isNoOpStored(dataDir, serialized))
          violations.push(`nonce ${nonce}: a no-op, sent before it was saved`)
        return
      }
      const digest = digestOf(data)
      if (digest === undefined) violations.push(`nonce ${nonce}: a transaction that no client asked for`)
      else if (!isStored(dataDir, digest, serialized)) violations.push(`${digest}: sent before it was saved`)
    },
  }
}

function isStored(dataDir: string, digest: Hex, raw: string): boolean {
  return storedText(dataDir, 'relays', digest)?.includes(raw) === true
}

/** A no-op is stored by itself where it fills a gap, and with its authorization where it takes the place of a call. */
function isNoOpStored(dataDir: string, raw: string): boolean {
  const rows = [...storedRows(dataDir, 'state'), ...storedRows(dataDir, 'relays')]
  return rows.some(({ doc }) => doc.includes(raw))
}

/** Only a rival may fail. */
export function toldWrong({ told }: Callers): string[] {
  return [...told].flatMap(([{ plan, digest }, { refused, statuses }]) => {
    if (plan.kind === 'rival') return []
    const name = `${plan.kind} ${digest}`
    return [
      ...(refused ? [`${name}: a caller heard that it would revert`] : []),
      ...(statuses.has('failed') ? [`${name}: a caller heard that it failed`] : []),
    ]
  })
}
