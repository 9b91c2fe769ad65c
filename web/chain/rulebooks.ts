import { Interface, type Provider } from 'ethers'
import * as z from 'zod'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import type { Hex } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import type { Settings } from '../settings.js'
import type { Ask } from '../state/query.js'
import { contractsOf } from './contracts.js'
import { inTime } from './inTime.js'
import { createLogTail, topicOf } from './logs.js'
import { once } from './once.js'
import type { ChainLog } from './parts.js'

/** A rulebook that came into force. */
export interface PublishedVersion {
  readonly version: number
  /** The block's time in Unix seconds. */
  readonly at: number
  /** Who signed it: the ledger takes a rulebook from the institution's admin of that block alone. */
  readonly admin: Hex
}

/** The rulebooks found so far, newest first. */
export interface PublishedVersions {
  readonly versions: readonly PublishedVersion[]
  readonly complete: boolean
}

type Published = Omit<PublishedVersion, 'at'> & Pick<ChainLog, 'blockNumber' | 'blockHash'>

const PUBLISHED = topicOf(confidentialLedgerAbi, 'PolicyUpdated')
const TRANSFERRED = topicOf(institutionRegistryAbi, 'AdminTransferred')
const INTERFACES = [new Interface(confidentialLedgerAbi), new Interface(institutionRegistryAbi)]
const versionSchema = z.bigint().transform(Number)

/** Reads when each version of an institution's rulebook came into force, and whose it was. */
export function createRulebooksReader(
  provider: Provider,
  { pins, chain }: Settings,
  { orgId, admin }: { readonly orgId: Hex; readonly admin: Hex },
): Ask<PublishedVersions> {
  const times = new Map<string, number>()
  const begun = once(async () => {
    const { registry, ledger } = await contractsOf(provider, pins.escrow)
    const query = { address: [registry, ledger], topics: [[PUBLISHED, TRANSFERRED], orgId] }
    return createLogTail(provider, { ...query, fromBlock: chain.firstBlock })
  })

  async function timeOf({ blockNumber, blockHash }: Published): Promise<number> {
    const known = times.get(blockHash)
    if (known !== undefined) return known
    const block = await inTime('getBlock', provider.getBlock(blockNumber))
    if (block === null) throw new TypeError('the node lacks a block of which it has an event')
    if (block.hash === blockHash) times.set(blockHash, block.timestamp)
    return block.timestamp
  }
  const timed = async (found: readonly Published[]) =>
    Promise.all(found.map(async (one) => ({ version: one.version, admin: one.admin, at: await timeOf(one) })))

  return async (signal, report) => {
    const look = await begun()
    const { logs, complete } = await look({
      signal,
      onPart: async (soFar) =>
        report({ versions: await timed(publishedIn(soFar.logs, admin)), complete: false }),
    })
    return { versions: await timed(publishedIn(logs, admin)), complete }
  }
}

/**
 * The rulebooks in the events of ledger and registry, newest first.
 * @param logs oldest first, up to the newest
 * @param admin the present one: before a transfer it was the one who handed over
 */
export function publishedIn(logs: readonly ChainLog[], admin: Hex): Published[] {
  const found: Published[] = []
  let author = admin
  for (const log of logs.toReversed()) {
    const [event] = INTERFACES.flatMap((contract) => {
      const one = contract.parseLog({ topics: [...log.topics], data: log.data })
      return one === null ? [] : [one]
    })
    if (event?.name === 'AdminTransferred') author = addressSchema.parse(event.args.getValue('from'))
    if (event?.name !== 'PolicyUpdated') continue
    const version = versionSchema.parse(event.args.getValue('version'))
    found.push({ version, admin: author, blockNumber: log.blockNumber, blockHash: log.blockHash })
  }
  return found
}
