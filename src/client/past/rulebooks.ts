import * as z from 'zod'
import type { ChainLog } from '../../chain/logReader.js'
import { addressSchema } from '../../protocol/address.js'
import type { Hex } from '../../protocol/hex.js'
import { ledgerEvents, registryEvents } from '../contractEvents.js'

/** A rulebook that came into force. */
export interface PublishedVersion {
  readonly version: number
  /** The block's time in Unix seconds. */
  readonly at: number
  /** Its signer: the ledger takes a rulebook from the institution's admin of that block alone. */
  readonly admin: Hex
}

type Published = Omit<PublishedVersion, 'at'> & { readonly log: ChainLog }

const versionSchema = z.bigint().transform(Number)

/**
 * The rulebooks in the events of ledger and registry, newest first.
 * @param logs oldest first, up to the newest
 * @param admin the present one: before a transfer it was the one who handed over
 */
export function publishedIn(logs: readonly ChainLog[], admin: Hex): Published[] {
  const found: Published[] = []
  let author = admin
  for (const log of logs.toReversed()) {
    const [event] = [ledgerEvents, registryEvents].flatMap((contract) => {
      const one = contract.parseLog({ topics: [...log.topics], data: log.data })
      return one === null ? [] : [one]
    })
    if (event?.name === 'AdminTransferred') author = addressSchema.parse(event.args.getValue('from'))
    if (event?.name !== 'PolicyUpdated') continue
    const version = versionSchema.parse(event.args.getValue('version'))
    found.push({ version, admin: author, log })
  }
  return found
}
