import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'dotenv'
import * as z from 'zod'
import { addressSchema } from '../protocol/address.js'
import { contractsSchema } from '../protocol/api.js'
import { chainIdSchema, chainIdTextSchema } from '../protocol/identifiers.js'
import { jsonOf } from '../protocol/json.js'
import {
  ConfigError,
  type Environment,
  faultsOf,
  optional,
  readSecretFiles,
  withoutEmpty,
} from '../service/config.js'
import { listOf, privateKey, secureUrl } from '../service/configKinds.js'
import { writeNewFile } from '../service/privateFile.js'
import { Secret } from '../service/secret.js'
import { CommandError } from '../terminal/failure.js'

/** The signing keys of operators, by the variable that has one; each may be in a file that `<NAME>_FILE` names. */
export const KEY_VARIABLES = {
  owner: 'OWNER_PRIVATE_KEY',
  guardian: 'GUARDIAN_PRIVATE_KEY',
  deployer: 'DEPLOYER_PRIVATE_KEY',
  funder: 'FUNDER_PRIVATE_KEY',
} as const
export type KeyRole = keyof typeof KEY_VARIABLES

const secretKey = () => privateKey().transform((key) => new Secret(key))

/** @returns the role's key. @throws ConfigError when none is given, it is malformed, or others can read its file */
export function readKey(environment: Environment, role: KeyRole): Secret<string> {
  const name = KEY_VARIABLES[role]
  const schema = z.object({ [name]: optional(secretKey(), { about: '', secret: true }) })
  const key = parsed(schema, readSecretFiles(pick(environment, [name, `${name}_FILE`]), schema))[name]
  if (key) return key
  throw new ConfigError([
    { name: `${name}_FILE`, problem: `is missing: name the file that has the ${role}'s key, with mode 0600` },
  ])
}

/** The nodes of `RPC_URL`. @throws ConfigError */
export function readRpcUrls(environment: Environment): string[] {
  const schema = z.object({ RPC_URL: z.string({ error: 'is missing' }).pipe(listOf(secureUrl())) })
  return parsed(schema, environment).RPC_URL
}

/** `CHAIN_ID`; null where it is not set. @throws ConfigError */
export function readChainId(environment: Environment): number | null {
  const schema = z.object({ CHAIN_ID: z.optional(chainIdTextSchema) })
  return parsed(schema, environment).CHAIN_ID ?? null
}

/** The variables of a schema. @throws ConfigError */
export function parsed<T>(schema: z.ZodType<T>, environment: Environment): T {
  const { data, error } = schema.safeParse(withoutEmpty(environment))
  if (data === undefined) throw new ConfigError(faultsOf(error))
  return data
}

/** `deployment.json`: the public facts of a deployment, which every later command reads. */
export const deploymentSchema = z.strictObject({
  chainId: chainIdSchema,
  contracts: contractsSchema,
  authority: addressSchema,
  usdc: addressSchema,
  /** The first block whose events can be of this deployment. */
  firstBlock: z.int().min(0),
})
export type DeploymentFile = z.output<typeof deploymentSchema>

const DEPLOYMENT_FILE = 'deployment.json'

export function deploymentPath(directory: string): string {
  return join(directory, DEPLOYMENT_FILE)
}

/** Writes the file, which must not exist yet; returns its path. */
export function writeDeployment(directory: string, deployment: DeploymentFile): string {
  const path = deploymentPath(directory)
  writeNewFile(path, `${JSON.stringify(z.encode(deploymentSchema, deployment), null, 2)}\n`, 0o644)
  return path
}

/** Null if there is none. @throws CommandError `deployment-malformed` */
export function findDeployment(directory: string): DeploymentFile | null {
  const path = deploymentPath(directory)
  if (!existsSync(path)) return null
  const deployment = deploymentSchema.safeParse(jsonOf(readFileSync(path, 'utf8')))
  if (deployment.success) return deployment.data
  const [issue] = deployment.error.issues
  const text = `${path} is no record of a deployment (${issue?.path.join('.')}: ${issue?.message})`
  throw new CommandError('deployment-malformed', text)
}

/** @throws CommandError `deployment-missing`, `deployment-malformed` */
export function readDeployment(directory: string): DeploymentFile {
  const deployment = findDeployment(directory)
  if (deployment) return deployment
  throw new CommandError('deployment-missing', `${deploymentPath(directory)} does not exist`)
}

/** The public values that `keys` wrote; none if it did not run here. */
export function readPublicValues(directory: string): Environment {
  const path = publicValuesPath(directory)
  return existsSync(path) ? parse(readFileSync(path)) : {}
}

export function publicValuesPath(directory: string): string {
  return join(directory, 'secrets', 'public.env')
}

function pick(environment: Environment, names: readonly string[]): Environment {
  return Object.fromEntries(names.map((name) => [name, environment[name]]))
}
