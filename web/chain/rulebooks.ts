import { Interface } from 'ethers'
import * as z from 'zod'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { type Eip1193Provider, type Hex, type LogListing, readLogs } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import type { Ask } from '../query.js'
import type { Settings } from '../settings.js'
import { createBlockTimes } from './blockTimes.js'
import { contractsOf } from './contracts.js'
import { once } from './once.js'
import { topicOf } from './read.js'
import { createTail } from './tail.js'

/** A rulebook that came into force. */
export interface PublishedVersion {
  readonly version: number
  /** The block's time in Unix seconds. */
  readonly at: number
  /** Its signer: the ledger takes a rulebook from the institution's admin of that block alone. */
  readonly admin: Hex
}

/** The rulebooks found so far, newest first. */
export interface PublishedVersions {
  readonly versions: readonly PublishedVersion[]
  readonly isComplete: boolean
}

type Log = LogListing['logs'][number]
type Published = Omit<PublishedVersion, 'at'> & Pick<Log, 'blockNumber' | 'blockHash' | 'blockTimestamp'>

const PUBLISHED = topicOf(confidentialLedgerAbi, 'PolicyUpdated')
const TRANSFERRED = topicOf(institutionRegistryAbi, 'AdminTransferred')
const INTERFACES = [new Interface(confidentialLedgerAbi), new Interface(institutionRegistryAbi)]
const versionSchema = z.bigint().transform(Number)

/** Reads when each version of an institution's rulebook came into force, and whose it was. */
export function createRulebooksReader(
  provider: Eip1193Provider,
  { pins, chain }: Settings,
  { orgId, admin }: { readonly orgId: Hex; readonly admin: Hex },
): Ask<PublishedVersions> {
  const publishedAt = createBlockTimes(provider)
  const begun = once(async () => {
    const { registry, ledger } = await contractsOf(provider, pins.escrow)
    const query = { addresses: [registry, ledger], topics: [[PUBLISHED, TRANSFERRED], orgId] }
    return createTail<LogListing>((options) =>
      readLogs(provider, query, { fromBlock: chain.firstBlock, ...options }),
    )
  })

  const timed = async (found: readonly Published[]) =>
    Promise.all(
      found.map(async (one) => ({ version: one.version, admin: one.admin, at: await publishedAt(one) })),
    )

  return async (signal, report) => {
    const look = await begun()
    const versionsOf = async ({ logs, isComplete }: LogListing) => ({
      versions: await timed(publishedIn(logs, admin)),
      isComplete,
    })
    return versionsOf(await look(signal, async (soFar) => report(await versionsOf(soFar))))
  }
}

/**
 * The rulebooks in the events of ledger and registry, newest first.
 * @param logs oldest first, up to the newest
 * @param admin the present one: before a transfer it was the one who handed over
 */
export function publishedIn(logs: readonly Log[], admin: Hex): Published[] {
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
    const { blockNumber, blockHash, blockTimestamp } = log
    found.push({ version, admin: author, blockNumber, blockHash, blockTimestamp })
  }
  return found
}
