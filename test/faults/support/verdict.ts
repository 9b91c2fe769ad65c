import { sameAddress } from '../../../src/protocol/address.js'
import type { Receipt } from '../../../src/protocol/api.js'
import type { MinedTransaction } from './chainRecord.js'
import type { Work } from './workload.js'

/** One authorization, what the relay says of it, and what the chain holds. */
export interface Case {
  readonly work: Work
  readonly receipt: Receipt | undefined
  /** The transactions that carried it, whoever sent them. */
  readonly carried: readonly MinedTransaction[]
  /** How many effects name its subject: its own, and its rival's. */
  readonly effects: number
  readonly used: boolean
}

/** What is wrong with it; nothing, when it has had its one effect and its receipt is true. */
export function faultsOf(one: Case, relayer: string): string[] {
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

/** What the relay says of an effect that came about without it. */
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
