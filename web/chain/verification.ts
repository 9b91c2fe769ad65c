import { Interface } from 'ethers'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import type { Hex } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'
import { contractsOf } from './contracts.js'
import { readView } from './read.js'

/** Whether the connected wallet owns the contract that keeps who is verified. */
export async function maySetKyc({ provider, address }: Session, { pins }: Settings): Promise<boolean> {
  const { token } = await contractsOf(provider, pins.escrow)
  const owner = await readView<Hex>(provider, {
    ...{ address: token, abi: equityTokenAbi, method: 'owner', schema: addressSchema },
  })
  return owner === address
}

/** Verifies a wallet (KYC), as the contracts' owner. Resolves once it is mined. */
export async function setKyc({ provider, signer }: Session, { pins }: Settings, wallet: Hex): Promise<void> {
  const { token } = await contractsOf(provider, pins.escrow)
  const data = new Interface(equityTokenAbi).encodeFunctionData('setKyc', [wallet, true])
  const sent = await signer.sendTransaction({ to: token, data })
  await sent.wait()
}
