import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import type { Policy } from '../../client/index.js'
import { addressSchema } from '../../protocol/address.js'
import { policySchema } from '../../protocol/policy.js'
import { parseStrictJson } from '../../protocol/strictJson.js'
import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { UsageError } from '../failure.js'
import { readArguments, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet } from '../input/connection.js'

/** Employees under addresses in any case, as people copy them; a wrong checksum is a wrong address. */
const filedPolicySchema = z.strictObject({
  ...policySchema.shape,
  employees: z.record(
    z.string().refine((key) => addressSchema.safeParse(key).success, 'expected an address'),
    policySchema.shape.employees.valueType,
  ),
})

export const policyCommand: Command = {
  name: 'policy',
  summary: "publishes an institution's rulebook from a JSON file, as its admin",
  help: `policy <file> [options]

The rulebook replaces the present one wholesale, so it lists every employee:

  {
    "employees": { "0x…": { "canBuy": true, "canSell": true, "restricted": ["TSLA"] } },
    "maxOrderNotional": "25000000000",
    "allowWithdrawShares": false
  }

maxOrderNotional is in USDC base units (6 decimals). The server answers when the enclave's whole run is over.`,
  usesWallet: true,
  async run(args, { env, terminal, signal }) {
    const { values, positionals } = readArguments(args, WALLET_OPTIONS)
    const [file, ...others] = positionals
    if (file === undefined || others.length > 0) throw new UsageError('expected one file')
    const policy = await readPolicy(file)
    const connection = await connectWallet(values, env)
    try {
      terminal.progress('signing and sealing the rulebook; the enclave is to examine it')
      const { orgId, version } = await connection.client.publishRulebook(policy, signal)
      terminal.result({
        json: { orgId, version },
        blocks: [
          {
            kind: 'fields',
            fields: [
              ['institution', orgId],
              ['version', String(version)],
            ],
          },
        ],
      })
      return EXIT.done
    } finally {
      connection.close()
    }
  },
}

/** A member that stands twice is an error: of two rules for one employee, one would be lost without a word. */
async function readPolicy(file: string): Promise<Policy> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError('the file of the rulebook cannot be read')
  })
  const policy = filedPolicySchema.safeParse(jsonOf(text))
  if (policy.success) return policy.data
  const faults = policy.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the rulebook'}: ${message}`,
  )
  throw new UsageError(faults.join('; '))
}

function jsonOf(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (error) {
    throw new UsageError(`the rulebook: ${error instanceof Error ? error.message : 'is not JSON'}`)
  }
}
