// Enclaves whose keys are born in them, as processes.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { startProcess } from '../../src/sandbox/serverProcess.js'
import { ATTESTED_ENCLAVE, type SandboxOptions } from '../../src/sandbox/settings.js'
import { freePorts } from './freePorts.js'
import { temporaryDirectory } from './temporaryDirectory.js'
import { QUICK } from './tradingSandbox.js'

/** A sandbox whose enclave was born in it. */
export async function startBorn(options: Pick<SandboxOptions, 'rotationDelay'> = {}) {
  const sandbox = await startSandbox({
    ...options,
    directory: await temporaryDirectory(),
    ports: { server: 0, rpc: 0, broker: 0 },
    keys: 'born',
    blockTime: QUICK.blockTime,
    serverSettings: QUICK.server,
    enclaveSettings: QUICK.enclave,
    print: () => undefined,
  })
  onTestFinished(() => sandbox.stop())
  const { attested, info } = sandbox
  if (attested === undefined) throw new Error('the sandbox has no such enclave')
  const domain = { chainId: info.chainId, escrow: info.contracts.orderEscrow }
  return { sandbox, attested, url: info.enclaveUrl, domain }
}

/**
 * A second enclave of the same deployment, that waits for its keys.
 * @param variables where the stand-in of its hardware is
 * @param settings lines of its configuration in place of those of the sandbox's
 */
export async function startAwaiting(
  sandbox: Sandbox,
  variables: Record<string, string>,
  settings: Readonly<Record<string, string>> = {},
) {
  const directory = await temporaryDirectory()
  const text = await readFile(join(sandbox.directory, '.env.enclave'), 'utf8')
  const [port] = await freePorts(1)
  const own = { ENCLAVE_LISTEN: `127.0.0.1:${port}`, ENCLAVE_STATE_DIR: `${directory}/state`, ...settings }
  const lines = Object.entries(own).reduce(
    (all, [name, value]) => all.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`),
    text,
  )
  await writeFile(join(directory, '.env.enclave'), lines, { mode: 0o600 })
  const url = `http://127.0.0.1:${port}`
  const launch = () => startProcess('enclave', { directory, url, main: ATTESTED_ENCLAVE, variables })
  let process = await launch()
  onTestFinished(() => process.kill())
  return {
    url,
    directory,
    /** @param setting a line of its configuration, in place of the one with its name */
    async restart(setting?: string) {
      await process.kill()
      if (setting !== undefined) {
        const [name] = setting.split('=')
        const kept = lines.split('\n').filter((line) => !line.startsWith(`${name}=`))
        await writeFile(join(directory, '.env.enclave'), [...kept, setting, ''].join('\n'), { mode: 0o600 })
      }
      process = await launch()
    },
  }
}
