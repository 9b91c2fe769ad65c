import canonicalize from 'canonicalize'
import * as z from 'zod'
import type { StartingStatement } from '../../attestation/starting.js'
import { MAX_STATEMENT_CHARACTERS } from '../../attestation/statement.js'
import { configurationOf } from '../../attestation/write.js'
import { ENVELOPE_SCHEME } from '../../protocol/envelopeForm.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { MAX_HOLDERS } from '../../protocol/masterShare.js'
import { holderSchema } from '../../protocol/provisioning.js'
import { ConfigError, type Environment, required, withDefault } from '../../service/config.js'
import { integer, listOf, secureUrl } from '../../service/configKinds.js'
import type { Rule } from '../../service/settingRules.js'
import { commonSettings } from '../commonSettings.js'

/** Upgrades within the life of an order, and one to spare. */
const MAX_FORMER = 4
const formerProgram = z
  .string()
  .transform((text) => text.split(':'))
  .pipe(
    z.tuple([bytes32Schema, bytes32Schema], 'expected measurement and configuration, separated by a colon'),
  )
  .transform(([measurement, config]) => ({ measurement, config }))

export const ATTESTED_ENV_EXAMPLE_HEADER = [
  "# An attested enclave's configuration: `install -m 600 .env.attested.example .env.enclave`. The enclave draws its own keys and is given",
  '# those of the broker by their holder, so none is in here (docs/attestation.md). A line that is commented out shows its default. Each URL',
  '# is https, or http on this machine. Checked against the schema by `npm run check`.',
]

const BORN = 'is for an enclave whose keys are in files: remove it. The keys of this one are born in it'
const GIVEN =
  'is for an enclave whose keys are in files: remove it. The first holder gives it: npm run operate -- attest provision'

/** Variables of an enclave whose keys are in files. */
const NOT_TAKEN: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    LEDGER_MASTER_KEY: BORN,
    INTENT_PRIVATE_KEY: BORN,
    ENCLAVE_PRIVATE_KEY: BORN,
    ALPACA_KEY_ID: GIVEN,
    ALPACA_SECRET_KEY: GIVEN,
  }).flatMap(([name, problem]) => [
    [name, problem],
    [`${name}_FILE`, problem],
  ]),
)

/** @param machines the names of those that the build has */
export function attestedSchema(machines: readonly string[]) {
  return z.object({
    ...commonSettings,
    RPC_WITNESS_URL: required(
      listOf(secureUrl()).refine((urls) => urls.length > 0, 'is missing'),
      {
        about:
          'JSON-RPC nodes of another operator, separated by commas. Both must say the same, at one block, about everything that \
decides money: with one operator alone, that operator would decide.',
        example: '',
      },
    ),
    ALPACA_ACCOUNT_ID: required(z.guid('expected the id of an account at the broker').toLowerCase(), {
      section: 'Attestation',
      about:
        'The account that trades: the "id" of GET /v2/account, not its "account_number". Keys of another account are refused.',
      example: '',
    }),
    ATTESTATION_PLATFORM: required(z.enum(machines, `expected ${machines.join(' or ')}`), {
      about: `What the enclave runs on: ${machines.join(' or ')}.`,
      example: machines[0] ?? '',
    }),
    MASTER_KEY_HOLDERS: required(
      listOf(holderSchema)
        .refine(
          ({ length }) => length >= 2 && length <= MAX_HOLDERS,
          `expected 2 to ${MAX_HOLDERS} public keys`,
        )
        .refine((holders) => new Set(holders).size === holders.length, 'names one holder twice'),
      {
        about:
          "Compressed public keys of those who hold a share of the ledger's master key, separated by commas (npm run operate -- attest key). \
The first is the platform's owner, who gives the broker's keys too.",
        example: '',
      },
    ),
    MASTER_KEY_THRESHOLD: required(integer(2, MAX_HOLDERS), {
      about:
        'Shares that make the key: so many holders start an enclave, and so many together know the ledger.',
      example: '2',
    }),
    FORMER_PROGRAMS: withDefault(
      listOf(formerProgram).refine(
        ({ length }) => length <= MAX_FORMER,
        `expected ${MAX_FORMER} programs at most`,
      ),
      {
        about: `Former programs, separated by commas, ${MAX_FORMER} at most, each as measurement:configuration: what was sealed to their keys \
is opened too.`,
        fallback: '',
      },
    ),
  })
}

export type AttestedConfig = z.output<ReturnType<typeof attestedSchema>>

const RULES: readonly Rule<AttestedConfig>[] = [
  {
    name: 'MASTER_KEY_THRESHOLD',
    problem: 'is above the number of MASTER_KEY_HOLDERS: no enclave would ever start',
    isBroken: ({ MASTER_KEY_THRESHOLD, MASTER_KEY_HOLDERS }) =>
      MASTER_KEY_THRESHOLD > MASTER_KEY_HOLDERS.length,
  },
  {
    name: 'MASTER_KEY_HOLDERS',
    problem: `makes a statement of more than ${MAX_STATEMENT_CHARACTERS} characters, with RPC_URL, RPC_WITNESS_URL and FORMER_PROGRAMS: shorten one`,
    isBroken: (config) => (canonicalize(longestStatement(config)) ?? '').length > MAX_STATEMENT_CHARACTERS,
  },
]

/** As long as any that the enclave will make. */
function longestStatement(config: AttestedConfig): StartingStatement {
  const digest = '0'.repeat(64)
  const address = config.ORDER_ESCROW_ADDRESS
  return {
    ...{ v: 1, origin: 'starting', chainId: config.CHAIN_ID, authority: address, escrow: address },
    ...{ scheme: ENVELOPE_SCHEME, configuration: configurationOf(config) },
    ...{ build: { version: '999.999.999', digest }, instance: crypto.randomUUID() },
    ...{ boot: Number.MAX_SAFE_INTEGER, sealKey: `0x02${digest}`, shares: `0x${digest}` },
  }
}

/** Variables by which a process changes what Node runs, whom it trusts or what it prints of requests, and that no measurement shows. */
const STEERING = /^(?:NODE|OPENSSL|SSL|LD)_/
/** An image of Node sets both, and Node reads neither. */
const OF_IMAGES = ['NODE_ENV', 'NODE_VERSION']

/**
 * @param allowed names of more variables that may be set
 * @throws ConfigError for a process whose Node is steered from outside of its image
 */
export function assertNotSteered(environment: Environment, allowed: readonly string[] = []): void {
  const taken = [...OF_IMAGES, ...allowed]
  const isSteering = (name: string) => STEERING.test(name) && environment[name] && !taken.includes(name)
  const set = Object.keys(environment).filter(isSteering)
  const problem = 'steers Node from outside of the measured image: remove it'
  if (set.length > 0) throw new ConfigError(set.map((name) => ({ name, problem })))
}

/** What `loadSettings` reads. */
export function attestedSettings(machines: readonly string[]) {
  return { schema: attestedSchema(machines), former: NOT_TAKEN, rules: RULES }
}
