import { sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import type { ContractAddresses } from '../protocol/api.js'
import { type Finding, fault, notice, ok, unchecked } from '../protocol/finding.js'
import type { Hex } from '../protocol/hex.js'
import { firstCreationOf } from '../protocol/identifiers.js'
import {
  ADDRESS_VARIABLES,
  type Authority,
  type AuthorityRole,
  CONTRACT_NAMES,
  createAuthority,
  type PendingRotation,
} from './contracts.js'
import { ChainAnswerError, ChainUnavailableError, isChainFailure } from './errors.js'
import { interfaces } from './interfaces.js'
import { isResult, quantitySchema } from './jsonRpc.js'
import { createRpc, type Rpc } from './rpc.js'
import { addressValue, createContractReader, createViewCaller, hasCode } from './views.js'

type ContractName = keyof ContractAddresses

/** The views of each contract that name others of the five, by immutables. */
const LINKS: Readonly<Record<ContractName, Readonly<Record<string, ContractName>>>> = {
  institutionRegistry: { pool: 'platformPool' },
  orderEscrow: {
    registry: 'institutionRegistry',
    ledger: 'confidentialLedger',
    token: 'equityToken',
    pool: 'platformPool',
  },
  confidentialLedger: { escrow: 'orderEscrow', registry: 'institutionRegistry', pool: 'platformPool' },
  equityToken: { pool: 'platformPool', escrow: 'orderEscrow' },
  platformPool: { escrow: 'orderEscrow', token: 'equityToken' },
}

interface DeploymentCheckupOptions {
  readonly rpc: Pick<Rpc, 'send'>
  readonly addresses: ContractAddresses
  /** Undefined where an attested enclave states its own. */
  readonly signer: Hex | undefined
  /** The signer's name in the configuration. */
  readonly signerName: string
}

/**
 * Whether the five addresses are the five contracts of one deployment, and take what this signer signs. A contract
 * that another one stands in the place of is a fault of its own line.
 * @throws ChainUnavailableError
 */
export async function checkDeployment(options: DeploymentCheckupOptions): Promise<Finding[]> {
  const code = await checkCode(options)
  const notAsked = 'not asked before the faults above are mended'
  const unasked = [unchecked('authority', notAsked), unchecked('enclave-signer', notAsked)]
  if (code.some(({ result }) => result === 'fault')) {
    return [...code, unchecked('contract-links', notAsked), ...unasked]
  }
  const links = await Promise.all(CONTRACT_NAMES.map((contract) => checkLinks(options, contract)))
  if (links.some(({ result }) => result === 'fault')) return [...code, ...links, ...unasked]
  const [authority, ...others] = await distinctAuthorities(options)
  if (authority === undefined || others.length > 0) {
    const text = `the contracts obey different authorities, ${[authority, ...others].join(' and ')}: take all five of one deployment`
    return [...code, ...links, fault('authority', text), unchecked('enclave-signer', notAsked)]
  }
  return [...code, ...links, ...(await checkAuthority({ ...options, authority }))]
}

/** One, unless the contracts are of several deployments. */
async function distinctAuthorities({ rpc, addresses }: DeploymentCheckupOptions): Promise<Hex[]> {
  const named = CONTRACT_NAMES.map((contract) => {
    const { read } = createContractReader(createViewCaller(rpc), addresses[contract], interfaces[contract])
    return read('authority', [], addressValue)
  })
  return [...new Set(await Promise.all(named))]
}

async function checkCode({ rpc, addresses }: DeploymentCheckupOptions): Promise<Finding[]> {
  const found = await Promise.all(CONTRACT_NAMES.map((name) => hasCode(rpc, addresses[name])))
  const faults = CONTRACT_NAMES.filter((_, index) => !found[index]).map((name) =>
    fault(
      'contract-code',
      `${ADDRESS_VARIABLES[name]}: there is no contract at ${addresses[name]}: take the address that the \
deployment on this chain printed`,
    ),
  )
  return faults.length > 0
    ? faults
    : [ok('contract-code', 'there is a contract at each of the five addresses')]
}

async function checkLinks(
  { rpc, addresses }: DeploymentCheckupOptions,
  contract: ContractName,
): Promise<Finding> {
  const variable = ADDRESS_VARIABLES[contract]
  const reader = createContractReader(createViewCaller(rpc), addresses[contract], interfaces[contract])
  const reads = Object.entries(LINKS[contract]).map(async ([view, name]) => ({
    name,
    found: await reader.read(view, [], addressValue),
  }))
  try {
    const wrong = (await Promise.all(reads)).filter(({ name, found }) => !sameAddress(found, addresses[name]))
    if (wrong.length > 0) {
      const named = wrong.map(({ name, found }) => `${ADDRESS_VARIABLES[name]} ${found}`)
      return fault(
        'contract-links',
        `${variable}: this contract was deployed with ${named.join(', ')}: take all five of one deployment`,
      )
    }
    if (contract === 'equityToken' && !(await isOfThisVersion(rpc, reader, addresses))) {
      return fault(
        'contract-links',
        `${variable}: this contract is of another version: deploy the contracts of this one`,
      )
    }
    return ok('contract-links', `${variable}: names its siblings as configured`)
  } catch (error) {
    if (!(error instanceof ChainAnswerError)) throw error
    return fault(
      'contract-links',
      `${variable}: the contract at ${addresses[contract]} is another one, or the nodes refuse to call it: are two addresses swapped?`,
    )
  }
}

/** Whether the token's shares are those that it created, and follow the list that the ledger created for this token. */
async function isOfThisVersion(
  rpc: DeploymentCheckupOptions['rpc'],
  { read }: ReturnType<typeof createContractReader>,
  { equityToken, confidentialLedger }: ContractAddresses,
): Promise<boolean> {
  const [implementation, actions] = await Promise.all([
    read('sharesImplementation', [], addressValue),
    read('actions', [], addressValue),
  ])
  if (!sameAddress(actions, firstCreationOf(confidentialLedger))) return false
  const list = createContractReader(createViewCaller(rpc), actions, interfaces.corporateActions)
  return (
    sameAddress(implementation, firstCreationOf(equityToken)) &&
    sameAddress(await list.read('token', [], addressValue), equityToken)
  )
}

/** With the authority that all five contracts name. */
type AuthorityCheckupOptions = DeploymentCheckupOptions & { readonly authority: Hex }

/**
 * Whether the authority that the contracts obey belongs to them, takes what this signer signs, and lets them work; and
 * which roles are about to change hands.
 * @throws ChainUnavailableError
 */
async function checkAuthority(options: AuthorityCheckupOptions): Promise<Finding[]> {
  const authority = createAuthority(createViewCaller(options.rpc), options.authority)
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

async function checkBelongs({ rpc, addresses, authority }: AuthorityCheckupOptions): Promise<Finding> {
  const { read } = createContractReader(createViewCaller(rpc), authority, interfaces.authority)
  const pool = await read('pool', [], addressValue)
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
  if (current === ZERO_ADDRESS) {
    const named = signer ?? '--attestation <url or file> --policy <file>'
    const text = 'the authority has no enclave signer yet, so nothing can be signed'
    return fault('enclave-signer', `${text}: have the owner run ${OPERATE} signer ${named}`)
  }
  if (signer === undefined)
    return ok('enclave-signer', `the authority's enclave signer is ${current}, an attested enclave's own`)
  if (sameAddress(current, signer))
    return ok('enclave-signer', "the authority's enclave signer is the configured one")
  const mend =
    pending !== null && sameAddress(pending.to, signer)
      ? `it takes over at ${timeOf(pending)}: until then the enclave has to sign as the present one`
      : `correct it, or have the owner run ${OPERATE} signer ${signer}`
  return fault(
    'enclave-signer',
    `the authority's enclaveSigner is ${current}, ${signerName} is ${signer}: ${mend}`,
  )
}

/** The commands of operators. An owner whose key is in a wallet calls the contract's method: docs/operations names it. */
const OPERATE = 'npm run operate --'

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
    return rotation ? [announcedRotation(role, rotation)] : []
  })
  return found.length > 0 ? found : [ok('rotation', 'no role is about to change hands')]
}

function announcedRotation(role: AuthorityRole, rotation: PendingRotation): Finding {
  return notice(
    'rotation',
    `${WHO[role]} will be ${rotation.to} from ${timeOf(rotation)} on: if you did not ask for it, the owner's key is in other hands; pause (${OPERATE} pause), and have the owner run ${OPERATE} ${role} --withdraw`,
  )
}

async function checkPause(authority: Authority): Promise<Finding> {
  const until = await authority.pausedUntil()
  return until === 0
    ? ok('pause', 'the platform is not paused')
    : fault(
        'pause',
        `the guardian has paused the platform until ${timeOf({ effectiveAt: until })}: no order is opened, settled or refunded before; the owner ends the pause earlier by ${OPERATE} pause --lift`,
      )
}

function timeOf({ effectiveAt }: Pick<PendingRotation, 'effectiveAt'>): string {
  return new Date(effectiveAt * 1_000).toISOString()
}

/** Asks each node of a list for its chain. Findings name nodes by their place, because a URL may hold a key. */
export function checkNodes(options: {
  /** Which list of nodes it is. */
  readonly variable?: 'RPC_URL' | 'RPC_WITNESS_URL'
  readonly urls: readonly string[]
  readonly timeoutMs: number
  readonly chainId: number
}): Promise<Finding[]> {
  const { variable = 'RPC_URL', urls, timeoutMs, chainId } = options
  return Promise.all(
    urls.map(async (url, index) => {
      const node = `node ${index + 1} of ${urls.length} in ${variable}`
      const found = await chainOf(url, timeoutMs)
      if (found === null) {
        return fault('rpc', `${node} does not answer: check its address, its key, and the way there`)
      }
      if (found !== BigInt(chainId)) {
        return fault(
          'chain-id',
          `${node} is of chain ${found}, CHAIN_ID is ${chainId}: correct the one that is wrong`,
        )
      }
      return ok('rpc', `${node} answers, chain ${chainId}`)
    }),
  )
}

/** The finding of a checkup that the nodes failed on the way. @throws any other error */
export function stoppedAnswering(error: unknown): Finding {
  if (!isChainFailure(error)) throw error
  return fault('rpc', `the nodes stopped answering as they should: ${error.message}`)
}

/** Null when the node gives no usable answer. */
async function chainOf(url: string, timeoutMs: number): Promise<bigint | null> {
  const rpc = createRpc({ urls: [url], timeoutMs })
  try {
    const [answer] = await rpc.send([{ method: 'eth_chainId', params: [] }])
    return isResult(answer) ? (quantitySchema.safeParse(answer.result).data ?? null) : null
  } catch (error) {
    if (error instanceof ChainUnavailableError) return null
    throw error
  }
}
