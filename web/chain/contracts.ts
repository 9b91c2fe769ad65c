import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Eip1193Provider, Hex } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import { readView } from './read.js'

/** The five contracts. */
export interface Contracts {
  readonly escrow: Hex
  readonly registry: Hex
  readonly ledger: Hex
  readonly token: Hex
  readonly pool: Hex
}

/** The contracts that the escrow names. The escrow's address comes from a source other than the server. */
export async function contractsOf(provider: Eip1193Provider, escrow: Hex): Promise<Contracts> {
  const of = (method: string) =>
    readView<Hex>(provider, { address: escrow, abi: orderEscrowAbi, method, schema: addressSchema })
  const [registry, ledger, token, pool] = await Promise.all([
    of('registry'),
    of('ledger'),
    of('token'),
    of('pool'),
  ])
  return { escrow, registry, ledger, token, pool }
}
