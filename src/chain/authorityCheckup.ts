import type { Provider } from 'ethers'
import { sameAddress } from '../protocol/address.js'
import type { ContractAddresses } from '../protocol/api.js'
import { type Finding, fault, notice, ok } from '../protocol/finding.js'
import type { Hex } from '../protocol/hex.js'
import { type Authority, type AuthorityRole, createAuthority, type PendingRotation } from './authority.js'
import { createContractReader } from './contractReader.js'
import { ChainAnswerError } from './errors.js'
import { authorityAbi } from './generated/authorityAbi.js'
import { addressValue } from './values.js'

export interface AuthorityCheckupOptions {
  readonly provider: Provider
  readonly addresses: ContractAddresses
  /** The authority that all five contracts name. */
  readonly authority: Hex
  readonly signer: Hex
  /** What the configuration calls the signer. */
  readonly signerName: string
}

/**
 * Whether the authority that the contracts obey belongs to them, takes what this signer signs, and lets them work; and
 * which roles are about to change hands.
 * @throws ChainUnavailableError
 */
export async function checkAuthority(options: AuthorityCheckupOptions): Promise<Finding[]> {
  const authority = createAuthority(options.provider, options.authority)
  try {
    const belongs = await checkBelongs(options)
    if (belongs.result === 'fault') return [belongs]
    const findings = [checkSigner(options, authority), checkRotations(authority), checkPause(authority)]
    return [belongs, ...(await Promise.all(findings)).flat()]
  } catch (error) {
    if (!(error instanceof ChainAnswerError)) throw error
    return [
      fault(
        'authority',
        `the contract at ${options.authority}, which the five name as their authority, is none: take all five of one deployment`,
      ),
    ]
  }
}

async function checkBelongs({ provider, addresses, authority }: AuthorityCheckupOptions): Promise<Finding> {
  const pool = await createContractReader(provider, authority, authorityAbi).read('pool', [], addressValue)
  return sameAddress(pool, addresses.platformPool)
    ? ok('authority', `all five contracts obey the authority at ${authority}`)
    : fault(
        'authority',
        `the authority at ${authority} was deployed with the pool ${pool}: take all five of one deployment`,
      )
}

async function checkSigner(
  { signer, signerName }: AuthorityCheckupOptions,
  authority: Authority,
): Promise<Finding> {
  const [current, pending] = await Promise.all([
    authority.enclaveSigner(),
    authority.pendingRotation('signer'),
  ])
  if (sameAddress(current, signer))
    return ok('enclave-signer', "the authority's enclave signer is the configured one")
  const mend =
    pending !== null && sameAddress(pending.to, signer)
      ? `it takes over at ${timeOf(pending)}: until then the enclave has to sign as the present one`
      : 'correct it, or have the owner call rotateSigner'
  return fault(
    'enclave-signer',
    `the authority's enclaveSigner is ${current}, ${signerName} is ${signer}: ${mend}`,
  )
}

const WHO: Record<AuthorityRole, string> = {
  owner: 'the owner',
  guardian: 'the guardian',
  signer: "the enclave's signer",
}

async function checkRotations(authority: Authority): Promise<Finding[]> {
  const roles = ['owner', 'guardian', 'signer'] as const
  const pending = await Promise.all(roles.map((role) => authority.pendingRotation(role)))
  const found = roles.flatMap((role, index) => {
    const rotation = pending[index]
    return rotation ? [rotationNotice(role, rotation)] : []
  })
  return found.length > 0 ? found : [ok('rotation', 'no role is about to change hands')]
}

function rotationNotice(role: AuthorityRole, rotation: PendingRotation): Finding {
  return notice(
    'rotation',
    `${WHO[role]} will be ${rotation.to} from ${timeOf(rotation)} on: if you did not ask for it, the owner's key is in other hands; pause, and have the owner call withdrawRotation`,
  )
}

async function checkPause(authority: Authority): Promise<Finding> {
  const until = await authority.pausedUntil()
  return until === 0
    ? ok('pause', 'the platform is not paused')
    : fault(
        'pause',
        `the guardian has paused the platform until ${timeOf({ effectiveAt: until })}: no order is opened, settled or refunded before; the owner can call liftPause`,
      )
}

function timeOf({ effectiveAt }: Pick<PendingRotation, 'effectiveAt'>): string {
  return new Date(effectiveAt * 1_000).toISOString()
}
