import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Hex } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'
import { readView } from './read.js'

/** Whether the connected wallet is the platform's owner, according to the contracts' authority. */
export async function isOwner({ provider, address }: Session, { pins }: Settings): Promise<boolean> {
  const authority = await readView<Hex>(provider, {
    ...{ address: pins.escrow, abi: orderEscrowAbi, method: 'authority', schema: addressSchema },
  })
  const owner = await readView<Hex>(provider, {
    ...{ address: authority, abi: authorityAbi, method: 'owner', schema: addressSchema },
  })
  return owner === address
}
