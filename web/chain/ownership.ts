import { Interface } from 'ethers'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Hex } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'
import { contractsOf } from './contracts.js'
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

/** For the owner: verifies a wallet (KYC). Resolves once the transaction is mined. */
export async function setKyc(session: Session, { pins }: Settings, wallet: Hex): Promise<void> {
  const { token } = await contractsOf(session.provider, pins.escrow)
  await send(session, token, new Interface(equityTokenAbi).encodeFunctionData('setKyc', [wallet, true]))
}

/** For the owner: admits an institution, which makes its founder the admin. Resolves once the transaction is mined. */
export async function admit(session: Session, { pins }: Settings, orgId: Hex, founder: Hex): Promise<void> {
  const { registry } = await contractsOf(session.provider, pins.escrow)
  const contract = new Interface(institutionRegistryAbi)
  await send(session, registry, contract.encodeFunctionData('setAdmitted', [orgId, founder, true]))
}

async function send({ signer }: Session, to: Hex, data: string): Promise<void> {
  const sent = await signer.sendTransaction({ to, data })
  await sent.wait()
}
