import * as z from 'zod'
import { encodeAuthorizationCall } from '../../src/chain/authorizationCall.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { signAuthorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { type Portfolio, portfolioSchema } from '../../src/protocol/portfolio.js'
import { sealUserBlob } from '../../src/protocol/userBlob.js'
import { grantedOrder, portfolioUpdate } from '../support/authorizations.js'
import type { TestChain } from '../support/chain.js'
import { nextWrite } from '../support/orderEnds.js'
import { ENCLAVE_KEY } from '../support/roles.js'
import { walletOf } from './clientSetting.js'

export function portfolioOf(userPubKey: Hex, nonce: number): Portfolio {
  const positions = { AAPL: { qty: 1_500_000_000n, locked: 0n } }
  return { cash: 12_340_000n, positions, openOrders: {}, nonce, userPubKey }
}

/** Writes Alice's portfolio on chain, as the enclave does. */
export async function writePortfolio(
  chain: TestChain,
  portfolio: Portfolio,
  version: bigint,
  userPubKey = portfolio.userPubKey,
): Promise<void> {
  const account = chain.account('alice')
  const accountId = accountIdOf(account)
  const userBlob = await sealUserBlob(z.encode(portfolioSchema, portfolio), userPubKey, accountId, version)
  const { previous } = await nextWrite(chain, account)
  const update = portfolioUpdate(grantedOrder(account), { version, previous, userBlob })
  const domain = { chainId: chain.anvil.chainId, verifyingContract: chain.addressOf('ledger') }
  const signed = signAuthorization(update, domain, ENCLAVE_KEY)
  const sent = await walletOf(chain, 'relayer').sendTransaction({
    to: domain.verifyingContract,
    data: encodeAuthorizationCall(signed),
  })
  await waitForReceipt(chain.provider, sent.hash)
}
