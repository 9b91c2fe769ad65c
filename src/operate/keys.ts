import { writeFileSync } from 'node:fs'
import { CommandError } from '../terminal/failure.js'
import { type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import { inspectSecrets, makeSecrets, type SecretKinds } from './secretFiles.js'
import { findDeployment, publicValuesPath, readPublicValues } from './settings.js'

/**
 * Makes the secrets that are missing and prints their public values, which `deploy` reads from `secrets/public.env`.
 * A second run keeps everything.
 * @throws CommandError `already-deployed` if a key is missing on which a deployment depends
 */
export async function makeKeys(process: OperateProcess, options: CommonOptions & SecretKinds): Promise<void> {
  const speech = createSpeech(process, options)
  const { directory } = options
  const { missing, kept, toFill, missingFixed } = inspectSecrets(directory, options)
  if (missingFixed.length > 0 && findDeployment(directory) !== null) {
    const text = `${missingFixed.join(', ')} would be made anew, but deployment.json says that the contracts are deployed`
    throw new CommandError('already-deployed', text)
  }
  for (const path of kept) speech.say(`keeps ${path}`)
  for (const path of missing) speech.say(`will make ${path}, mode 0600`)
  if (missing.length > 0) await speech.confirm(`Make ${missing.length} secrets?`)
  const values = { ...readPublicValues(directory), ...makeSecrets(directory, options) }
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`)
  writeFileSync(publicValuesPath(directory), `${lines.join('\n')}\n`)
  for (const path of toFill) speech.say(`to fill: ${path}, mode 0600, with what the broker gave you`)
  speech.result(lines, {
    command: 'keys',
    changed: missing.length > 0,
    made: missing,
    kept,
    toFill,
    public: values,
  })
}
