// Carries an account's portfolio over corporate actions, as the enclave does when it opens it: docs/protocol.md, section 11.
import { portfoliosAt } from '../chain/earlierWrites.js'
import { type CorporateAction, carry, lateMoments } from '../protocol/corporateActions.js'
import { ProtocolError } from '../protocol/errors.js'
import type { Hex } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { openUserBlob } from '../protocol/userBlob.js'
import type { Keyring } from './keyring.js'
import type { Node } from './node.js'

/** A version as it was written. */
export interface StoredVersion {
  readonly portfolio: Portfolio
  readonly version: bigint
  /** The ledger's running hash after it, or after a later version; null if it is unknown. */
  readonly hash: Hex | null
}

export interface Carried {
  readonly portfolio: Portfolio
  /** Dividends whose ex-date no key opens a portfolio of: they count as nothing. */
  readonly uncounted: readonly CorporateAction[]
}

/** Opens a version's blob, or says why not. The user may reject the signature that derives the key. */
export async function openVersion(
  keys: Pick<Keyring, 'opened'>,
  accountId: Hex,
  { userBlob, version }: { readonly userBlob: Hex; readonly version: bigint },
): Promise<Portfolio | 'other-key' | 'malformed'> {
  try {
    const value = await keys.opened(({ privateKey }) =>
      openUserBlob(userBlob, privateKey, accountId, version),
    )
    return portfolioSchema.safeParse(value).data ?? 'malformed'
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return error.code === 'undecryptable' ? 'other-key' : 'malformed'
  }
}

export function createCarrier(deps: {
  readonly rpc: Node
  readonly ledger: Hex
  readonly account: Hex
  readonly keys: Pick<Keyring, 'opened'>
}) {
  const { keys, ...place } = deps
  /** The portfolios at late moments, as one version asked for them. */
  let known = { version: 0n, asked: new Map<number, readonly Portfolio[] | undefined>() }

  async function ask(moments: readonly number[], { version, hash }: StoredVersion, head: number) {
    if (known.version !== version) known = { version, asked: new Map() }
    const missing = moments.filter((moment) => !known.asked.has(moment))
    if (missing.length === 0) return
    const found =
      hash === null
        ? new Map<number, readonly Portfolio[]>()
        : await portfoliosAt(missing, { ...place, stored: { version, hash }, head }, async (write) => {
            const portfolio = await openVersion(keys, accountIdOf(write.account), write)
            return typeof portfolio === 'string' ? undefined : portfolio
          })
    for (const moment of missing) known.asked.set(moment, found.get(moment))
  }

  /**
   * @param actions the list, up to the entry that counts last
   * @param head the number of a block at which the version is the newest
   * @throws ChainUnavailableError, ChainAnswerError, and those of the keys
   */
  return async (
    stored: StoredVersion,
    actions: readonly CorporateAction[],
    head: number,
  ): Promise<Carried> => {
    const { portfolio } = stored
    const moments = lateMoments(portfolio, actions)
    await ask(moments, stored, head)
    const earlier = new Map(moments.map((moment) => [moment, known.asked.get(moment) ?? []]))
    const unknown = new Set(moments.filter((moment) => known.asked.get(moment) === undefined))
    return {
      portfolio: carry(portfolio, actions, earlier),
      uncounted: actions.filter(
        ({ kind, index, recordAt }) =>
          kind === 'ENTITLEMENT' && index >= (portfolio.actions ?? 0) && unknown.has(recordAt),
      ),
    }
  }
}

export type Carrier = ReturnType<typeof createCarrier>
