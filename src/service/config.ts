import { resolve } from 'node:path'
import { parse } from 'dotenv'
import * as z from 'zod'
import { readPrivateFile, SharedFileError } from './privateFile.js'

/** A variable of Node that no program of the platform goes on with: every URL off this machine is https. */
export function tlsFaults({ NODE_TLS_REJECT_UNAUTHORIZED }: Environment): ConfigFault[] {
  if (NODE_TLS_REJECT_UNAUTHORIZED !== '0') return []
  return [{ name: 'NODE_TLS_REJECT_UNAUTHORIZED', problem: 'turns off the check of certificates: remove it' }]
}

/** Variables as a process or a file has them. An empty one counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The fault of one variable. `problem` never quotes the value: it may be a secret under the wrong name. */
export interface ConfigFault {
  readonly name: string
  readonly problem: string
}

/** The environment can't be used. Lists every fault, not just the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly faults: readonly ConfigFault[]) {
    super(faults.map(({ name, problem }) => `${name}: ${problem}`).join('\n'))
  }
}

/** The text about a variable in an env example. */
interface VariableNotes {
  /** Opens a section of the file. */
  readonly section?: string
  readonly about: string
  /** The example's value of a variable that has to be set. */
  readonly example?: string
  /** Whether another variable, or another way, may stand in its place. */
  readonly isReplaceable?: boolean
  /** Its value may be in a file that `<NAME>_FILE` names. */
  readonly secret?: true
  /** An optional variable's default; without it the variable has none, or one that depends on the installation. */
  readonly fallback?: string
}

const variableNotes = z.registry<VariableNotes>()

/** A kind of value: from text to a type. */
export type Kind<T> = z.core.$ZodType<T, string>

/** A program's variables, in the order of its env example. */
type EnvironmentSchema = z.ZodObject<Record<string, z.core.$ZodType>>

export function required<T>(kind: Kind<T>, notes: VariableNotes & { example: string }) {
  return z.string({ error: 'is missing' }).pipe(kind).register(variableNotes, notes)
}

export function withDefault<T>(kind: Kind<T>, notes: VariableNotes & { fallback: string }) {
  return z.string().default(notes.fallback).pipe(kind).register(variableNotes, notes)
}

/** With an `example` it is required unless another variable replaces it. */
export function optional<T>(kind: Kind<T>, notes: VariableNotes) {
  return z
    .string()
    .pipe(kind)
    .optional()
    .register(variableNotes, { ...notes, isReplaceable: true })
}

/** The first fault of each variable. */
export function faultsOf(error: z.core.$ZodError | undefined): ConfigFault[] {
  const faults = new Map<string, string>()
  for (const { path, message } of error?.issues ?? []) {
    const name = String(path[0])
    if (!faults.has(name)) faults.set(name, message)
  }
  return [...faults].map(([name, problem]) => ({ name, problem }))
}

/** Variables of earlier versions that are still set. @param former each with what to do about it */
export function formerFaults(
  environment: Environment,
  former: Readonly<Record<string, string>>,
): ConfigFault[] {
  const set = Object.entries(former).filter(([name]) => environment[name] !== undefined)
  return set.map(([name, problem]) => ({ name, problem }))
}

export function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
}

/**
 * The variables of the file that the variable `ofName` names. A variable that the program does not know is refused: a misspelt
 * name would have no effect.
 * @param former variables of earlier versions, each with what to do about it
 * @throws ConfigError also when the file can't be read, or other users of the machine have rights on it
 */
export function readEnvFile(
  file: string,
  ofName: string,
  schema: EnvironmentSchema,
  former: Readonly<Record<string, string>> = {},
): Environment {
  const variables = withoutEmpty(parse(readFile(resolve(file), ofName)))
  const known = new Set([...Object.keys(schema.shape), ...secretsOf(schema).map(fileVariable)])
  const unknown = Object.keys(variables).filter((name) => !known.has(name))
  if (unknown.length > 0) {
    const problem = `is no variable of this program: correct or remove it in ${resolve(file)}`
    throw new ConfigError(
      unknown.map((name) => ({ name: isName(name) ? name : 'A line', problem: former[name] ?? problem })),
    )
  }
  return variables
}

/** Only such a name is quoted: a secret on a line of its own, such as Base64, would pass for a name, too. */
function isName(text: string): boolean {
  return /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(text) && text.length <= 64
}

/**
 * The environment with each secret whose file `<NAME>_FILE` names. @throws ConfigError when one can't be read, can be by
 * other users of the machine, is empty, or is given both ways
 */
export function readSecretFiles(environment: Environment, schema: EnvironmentSchema): Environment {
  const given = withoutEmpty(environment)
  const secrets = secretsOf(schema).flatMap((name) => {
    const file = given[fileVariable(name)]
    if (file === undefined) return []
    if (given[name] !== undefined) {
      throw new ConfigError([
        { name, problem: `is set, and so is ${fileVariable(name)}: remove one of them` },
      ])
    }
    return [[name, secretIn(resolve(file), fileVariable(name))]]
  })
  return { ...given, ...Object.fromEntries(secrets) }
}

/** Without the line break that ends most files. */
function secretIn(path: string, ofName: string): string {
  const secret = readFile(path, ofName).trimEnd()
  if (secret === '') throw new ConfigError([{ name: ofName, problem: `${path} is empty` }])
  return secret
}

/** The variables whose values are secret. */
export function secretsOf(schema: EnvironmentSchema): string[] {
  return notesOf(schema).flatMap(([name, { secret }]) => (secret ? [name] : []))
}

function fileVariable(name: string): string {
  return `${name}_FILE`
}

function readFile(path: string, ofName: string): string {
  try {
    return readPrivateFile(path).toString()
  } catch (error) {
    const problem = error instanceof SharedFileError ? error.message : `${path} cannot be read`
    throw new ConfigError([{ name: ofName, problem }])
  }
}

/** The text of an env example: a program's variables below a header. */
export function renderEnvExample(header: readonly string[], schema: EnvironmentSchema): string {
  const variables = notesOf(schema).flatMap(([name, { section, about, example, fallback = '' }]) => [
    ...(section === undefined ? [] : ['', `# --- ${section} ---`, '']),
    ...(about === '' ? [] : [`# ${about}`]),
    example === undefined ? `# ${name}=${fallback}` : `${name}=${example}`,
  ])
  return `${[...header, ...variables].join('\n')}\n`
}

/** The same as a Markdown table, its columns aligned. */
export function renderConfigurationTable(schema: EnvironmentSchema): string {
  const rows = [['Variable', 'Default', 'Meaning']]
  let about = ''
  for (const [name, notes] of notesOf(schema)) {
    // A variable without a text of its own shares that of the one above it.
    about = notes.about === '' ? about : notes.about
    rows.push([`\`${name}\``, defaultOf(notes), about])
  }
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const rule = widths.map((width) => '-'.repeat(width))
  return rows
    .toSpliced(1, 0, rule)
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n')
}

function notesOf({ shape }: EnvironmentSchema): [name: string, notes: VariableNotes][] {
  return Object.entries(shape).map(([name, variable]) => [name, variableNotes.get(variable) ?? { about: '' }])
}

/**
 * The settings of an environment that differ from the env example's, as `NAME=value [default]`. It omits the secrets, and the
 * settings that every installation fills in.
 */
export function differencesOf(schema: EnvironmentSchema, environment: Environment): string[] {
  return notesOf(schema).flatMap(([name, { secret, example, fallback }]) => {
    const value = environment[name]
    const usual = example ?? fallback
    if (!value || secret || example === '' || value === usual) return []
    return [`${name}=${value} [${example === undefined ? fallback || 'unset' : 'required'}]`]
  })
}

function defaultOf({ example, isReplaceable, fallback }: VariableNotes): string {
  if (example !== undefined) return isReplaceable ? '**required** unless replaced' : '**required**'
  return fallback === undefined ? '' : `\`${fallback}\``
}
