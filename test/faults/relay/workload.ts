import { encodeAuthorizationCall, targetOf } from '../../../src/chain/authorizationCall.js'
import { waitForReceipt } from '../../../src/chain/waitForReceipt.js'
import { checksum } from '../../../src/protocol/address.js'
import { type Authorization, signAuthorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { bodyOf } from '../../server/relay/relayUnderTest.js'
import {
  batchMint,
  digestOf,
  domainOf,
  grantedOrder,
  grantOrders,
  portfolioUpdate,
} from '../../support/authorizations.js'
import { INTERFACES, type TestChain } from '../../support/chain.js'
import { bytes32, shares } from '../../support/institution.js'
import { ENCLAVE_KEY } from '../../support/roles.js'
import type { PlannedAuthorization } from './plan.js'

const LISTING_GAS = '0x493e0'
const CARRYING_GAS = '0x7a120'
/** Blocks; above what any planned reorganization takes back. */
const MOST_REORGANIZED = '0x20'

/** One authorization, signed, and the traces by which its effect is recognized on the chain. */
export interface Work {
  readonly plan: PlannedAuthorization
  readonly digest: Hex
  readonly target: Hex
  /** The calldata of the transactions that carry it, and of no others. */
  readonly calldata: Hex
  /** The body of `POST /relay`. */
  readonly body: string
  /** The account or symbol that the event of its effect names. Only its rival shares it. */
  readonly subject: Hex
}

export function createWork(chain: TestChain, plan: PlannedAuthorization, index: number): Work {
  const account = accountOf(plan)
  const subject = account === null ? nameToBytes32(`S${plan.subject}`) : accountIdOf(account)
  const authorization = account === null ? mintOf(subject, index) : updateOf(account, index)
  const { primaryType } = authorization
  const signed = signAuthorization(authorization, domainOf(chain, primaryType), ENCLAVE_KEY)
  return {
    plan,
    subject,
    digest: digestOf(chain, authorization),
    target: targetOf(primaryType, chain.addresses),
    calldata: encodeAuthorizationCall(signed),
    body: JSON.stringify(bodyOf(chain, authorization)),
  }
}

/** The account whose portfolio is written, null when shares are minted. */
function accountOf({ kind, subject }: PlannedAuthorization): Hex | null {
  return kind === 'mint' ? null : checksum(bytes32(`account ${subject}`).slice(0, 42))
}

function mintOf(symbol: Hex, index: number): Authorization {
  return batchMint(symbol, shares(index + 1))
}

function updateOf(account: Hex, index: number): Authorization {
  // Rivals differ in nothing else.
  return portfolioUpdate(grantedOrder(account), { enclaveBlob: `0x${index.toString(16).padStart(8, '0')}` })
}

/**
 * Lists the symbols that will be minted, and gives an open order to each account whose portfolio will be written. No
 * reorganization of the storm reaches back before these.
 */
export async function prepareChain(chain: TestChain, work: readonly Work[]): Promise<void> {
  await listSymbols(chain, work)
  await grantOrders(
    chain,
    work.map(({ plan }) => accountOf(plan)).filter((account) => account !== null),
  )
  await chain.provider.send('anvil_mine', [MOST_REORGANIZED])
}

/** Chooses the nonces here, as the node would give one twice to concurrent requests. */
async function listSymbols(chain: TestChain, work: readonly Work[]): Promise<void> {
  const { provider } = chain
  const from = chain.account('owner')
  const first = await provider.getTransactionCount(from)
  const mints = work.filter(({ plan }) => plan.kind === 'mint')
  const hashes = await Promise.all(
    mints.map(({ subject }, index) => {
      const data = INTERFACES.token.encodeFunctionData('setListed', [subject, true])
      const nonce = `0x${(first + index).toString(16)}`
      const request = { from, to: chain.addressOf('token'), data, gas: LISTING_GAS, nonce }
      return provider.send('eth_sendTransaction', [request])
    }),
  )
  await Promise.all(hashes.map((hash) => waitForReceipt(provider, hash)))
}

/** Takes it to the chain without the relay. It may come too late, or be taken back. */
export async function takeToChain(chain: TestChain, { target, calldata }: Work): Promise<void> {
  const request = { from: chain.account('dave'), to: target, data: calldata, gas: CARRYING_GAS }
  await chain.provider.send('eth_sendTransaction', [request]).catch(() => undefined)
}
