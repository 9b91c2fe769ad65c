import { Interface } from 'ethers'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { ContractAddresses } from '../../src/protocol/api.js'
import type { Hex } from '../../src/protocol/hex.js'
import { testUsdcAbi } from '../../src/sandbox/generated/testUsdc.js'
import type { Call } from '../../src/sandbox/transactions.js'

const escrowInterface = new Interface(orderEscrowAbi)
const tokenInterface = new Interface(equityTokenAbi)
const usdcInterface = new Interface(testUsdcAbi)

/** A call of `OrderEscrow`. */
export function escrowCall({ orderEscrow }: ContractAddresses, method: string, ...args: unknown[]): Call {
  return { to: orderEscrow, abi: escrowInterface, method, args }
}

/** A call of `EquityToken`. */
export function tokenCall({ equityToken }: ContractAddresses, method: string, ...args: unknown[]): Call {
  return { to: equityToken, abi: tokenInterface, method, args }
}

/** A call of the sandbox's USDC. */
export function usdcCall(usdc: Hex, method: string, ...args: unknown[]): Call {
  return { to: usdc, abi: usdcInterface, method, args }
}
