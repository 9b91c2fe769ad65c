import * as z from 'zod'
import { createConfidentialLedger } from '../../src/chain/contracts.js'
import { checksum } from '../../src/protocol/address.js'
import {
  authorizationDigest,
  type SignedAuthorization,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../src/protocol/authorization.js'
import { bytesToHex, type Hex, uintToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import { BLOCK_TIME, STATE_SECONDS } from '../../src/sandbox/settings.js'
import { domainOf, grantedOrder, grantOrders, portfolioUpdate } from '../../test/support/authorizations.js'
import { startTestChain } from '../../test/support/chain.js'
import { chainEnvironment } from '../../test/support/intakeServer.js'
import { ENCLAVE_KEY, ENCLAVE_SIGNER } from '../../test/support/roles.js'
import { SERVER_ENVIRONMENT } from '../../test/support/serverEnvironment.js'
import type { BenchContext } from './figure.js'
import type { LoadPlan } from './load.js'

const BLOCK_SECONDS = 0.1
/** States that the node keeps: those of every block would fill the memory. */
const STATES = 32
/** Small blobs: a write costs the node the same whichever way it was sent. */
const BLOB: Hex = `0x01${'5a'.repeat(28)}`
const ADDRESS_BYTES = 20

/** At most so many callers, who wait for their turn beyond what may be under way. */
export const MOST_CALLERS = 512

export type RelayChain = Awaited<ReturnType<typeof startRelayChain>>

/** Starts a chain of its own, with the means of the enclave. */
export async function startRelayChain(
  { cleanUp, settings }: Pick<BenchContext, 'cleanUp' | 'settings'>,
  blockTime = BLOCK_SECONDS,
) {
  const chain = await startTestChain({ states: STATES })
  cleanUp.defer(chain.stop)
  await chain.anvil.mineEvery(blockTime)
  const rhythm = blockTime === BLOCK_TIME ? [] : [`a block every ${blockTime} s [${BLOCK_TIME}]`]
  settings.add(`chain: ${[...rhythm, `${STATES} states [${STATE_SECONDS}]`].join(', ')}`)
  const domain = domainOf(chain, 'PortfolioUpdate')
  const ledger = createConfidentialLedger(chain.provider, chain.addresses.confidentialLedger)
  let owners = 0n
  return {
    ...chain,
    /**
     * Creates that many portfolios, each of an account with an open order. Returns a function that signs the next write of each;
     * several blocks hold them. New portfolios in each round would make the node slower from round to round.
     */
    async portfolios(count: number) {
      const own = Array.from({ length: count }, () => {
        const owner = checksum(bytesToHex(uintToBytes(++owners, ADDRESS_BYTES)))
        return { owner, version: 0n, hash: ZERO_BYTES32 }
      })
      await grantOrders(
        chain,
        own.map(({ owner }) => owner),
      )
      return () =>
        own.map((portfolio) => {
          const { owner, hash: previous } = portfolio
          const write = { version: ++portfolio.version, previous, enclaveBlob: BLOB, userBlob: BLOB }
          portfolio.hash = portfolioHashAfter(previous, write)
          return signAuthorization(portfolioUpdate(grantedOrder(owner), write), domain, ENCLAVE_KEY)
        })
    },
    async assertEffective(authorizations: readonly SignedAuthorization[]) {
      const digests = authorizations.map((authorization) => authorizationDigest(authorization, domain))
      const used = await Promise.all(digests.map((digest) => ledger.usedDigest(digest)))
      const missing = used.filter((isUsed) => !isUsed).length
      if (missing > 0) throw new Error(`${missing} of ${used.length} authorizations have no effect`)
    },
    /** Settings of a server whose relayer has this account. */
    settings: ({ privateKey }: SandboxAccount): Record<string, string> => ({
      ENV_FILE: '/dev/null',
      ...SERVER_ENVIRONMENT,
      ...chainEnvironment(chain),
      ENCLAVE_SIGNER,
      // As by default: the tests' environment has another.
      READ_MAX_AGE: '',
      RELAYER_PRIVATE_KEY: privateKey,
    }),
  }
}

/** The requests that relay these. */
export function relayRequests(
  authorizations: readonly SignedAuthorization[],
): Pick<LoadPlan, 'requests' | 'headers'> {
  return {
    requests: authorizations.map((authorization) => ({
      method: 'POST',
      path: '/relay',
      body: JSON.stringify(z.encode(signedAuthorizationSchema, authorization)),
    })),
    headers: { authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` },
  }
}
