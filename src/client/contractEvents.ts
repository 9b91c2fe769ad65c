// The events of the contracts. Each ABI is parsed once: ethers takes milliseconds for it, at the start of every page.
import { Interface } from 'ethers'
import { confidentialLedgerAbi } from '../chain/generated/confidentialLedgerAbi.js'
import { corporateActionsAbi } from '../chain/generated/corporateActionsAbi.js'
import { equityTokenAbi } from '../chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../chain/generated/orderEscrowAbi.js'
import type { Hex } from '../protocol/hex.js'

export const actionEvents = new Interface(corporateActionsAbi)
export const escrowEvents = new Interface(orderEscrowAbi)
export const ledgerEvents = new Interface(confidentialLedgerAbi)
export const registryEvents = new Interface(institutionRegistryAbi)
export const tokenEvents = new Interface(equityTokenAbi)

/** The first topic of an event's logs. */
export function topicOf(events: Interface, name: string): string {
  return events.getEvent(name)?.topicHash ?? ''
}

/** The topic of an indexed address. */
export function topicOfAddress(address: Hex): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
