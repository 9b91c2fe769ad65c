// The events that the client looks for. Their types alone: whole ABIs would be in every page.
import { id } from 'ethers'
import type { Hex } from '../protocol/hex.js'

/** By name. */
export const EVENT_TYPES = {
  OrderOpened: 'bytes32,address,uint256,uint64,bytes32',
  OrderRefunded: 'bytes32,address,uint256',
  OrderSettled: 'bytes32,address,uint256,bytes32,uint256',
  ActionEnacted: 'uint256,bytes32,bytes32,(uint8,uint64,uint64,uint64,uint32,bytes32,bytes32)',
  PolicyUpdated: 'bytes32,uint64',
  PortfolioMoved: 'address,address,uint64',
  ListingUpdated: 'bytes32,bool',
  FreezeUpdated: 'bytes32,address,bool',
  KycUpdated: 'address,bool',
  InstitutionRegistered: 'bytes32,address',
  MemberUpdated: 'bytes32,address,bool',
  AdminTransferred: 'bytes32,address,address',
  MoveProposed: 'bytes32,address,address',
  MoveWithdrawn: 'address,address,address',
}

/** The first topic of an event's logs. */
export function topicOf(name: keyof typeof EVENT_TYPES): string {
  return id(`${name}(${EVENT_TYPES[name]})`)
}

/** The topic of an indexed address. */
export function topicOfAddress(address: Hex): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
