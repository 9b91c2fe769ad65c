import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import * as z from 'zod'
import { instructionsOf, stagesOf } from './dockerfile.js'

/** One way in which the platform is shipped to be run: as whom each of the two programs runs. */
export interface Deployment {
  readonly name: string
  readonly server: Party
  readonly enclave: Party
}

export interface Party {
  /** A name, or a number. */
  readonly user: string
  /** Configuration files that it is given. */
  readonly files: readonly string[]
}

const serviceSchema = z.object({
  image: z.string(),
  user: z.string().optional(),
  environment: z.record(z.string(), z.string()).default({}),
  cap_add: z.array(z.string()).default([]),
  read_only: z.literal(true),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  network_mode: z.string().optional(),
  ports: z.array(z.string()).default([]),
  env_file: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
})
export const composeSchema = z.object({ services: z.record(z.string(), serviceSchema) })

/** @param file in `deploy` */
export function readCompose(file = 'compose.yaml') {
  return composeSchema.parse(parse(readFileSync(`deploy/${file}`, 'utf8'), { merge: true }))
}

/** The settings of a systemd unit, in their order; a name may occur more than once. */
export function readUnit(name: string): [name: string, value: string][] {
  return readFileSync(`deploy/systemd/${name}.service`, 'utf8')
    .split('\n')
    .map((line) => /^(\w+)=(.*)$/.exec(line))
    .flatMap((match) => (match?.[1] ? [[match[1], match[2] ?? ''] as [string, string]] : []))
}

function partyOfImage(stage: string): Party {
  const stages = stagesOf(instructionsOf(readFileSync('Dockerfile', 'utf8')))
  const user = stages
    .get(stage)
    ?.findLast(({ name }) => name === 'USER')
    ?.value.split(':')[0]
  return { user: user ?? 'root', files: [] }
}

function partyOfService(name: string, file?: string): Party {
  const service = readCompose(file).services[name]
  const mounted = (service?.volumes ?? []).map((volume) => volume.split(':')[0] ?? '')
  const files = [...(service?.env_file ?? []), ...mounted.filter((path) => path.endsWith('.env'))]
  return {
    user: service?.user?.split(':')[0] ?? 'root',
    files: files.map((path) => path.replace(/^\.\//, '')),
  }
}

function partyOfUnit(name: string): Party {
  const settings = readUnit(name)
  const user = settings.findLast(([setting]) => setting === 'User')?.[1]
  const environment = settings
    .filter(([setting]) => setting === 'Environment')
    .flatMap(([, value]) => value.split(' '))
  const named = environment.map((entry) => /^(?:ENV_FILE|ENCLAVE_ENV_FILE)=.*\/([^/]+)$/.exec(entry)?.[1])
  return { user: user ?? 'root', files: named.filter((file) => file !== undefined) }
}

/** Everything that is shipped to run the platform. */
export function shippedDeployments(): Deployment[] {
  return [
    { name: 'the images', server: partyOfImage('server'), enclave: partyOfImage('enclave') },
    { name: 'Compose', server: partyOfService('server'), enclave: partyOfService('enclave') },
    {
      name: 'Compose, three servers',
      server: partyOfService('server-1', 'compose.servers.yaml'),
      enclave: partyOfService('enclave', 'compose.servers.yaml'),
    },
    {
      name: 'systemd',
      server: partyOfUnit('trading-server'),
      enclave: partyOfUnit('trading-enclave'),
    },
  ]
}
