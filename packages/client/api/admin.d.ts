// Written by `npm run client-api` from client/admin.d.ts: the public types, and all that they name beside those of client.d.ts.
// Exports:
//   AlikeChanges
//   EmployeeFile
//   EmployeeRow
//   KeptOptions
//   MAX_NAME
//   Member
//   MemberList
//   MemberListOptions
//   MembershipEvent
//   Nameable
//   PartsOnChain
//   PublishOptions
//   PublishStep
//   PublishedRulebook
//   RowFault
//   RulebookChange
//   RulebookCopy
//   alikeChanges
//   exceptionsOf
//   forgetPublication
//   getKeptPublication
//   getRulebookCopy
//   getRulebookVersion
//   isName
//   listMembers
//   memberRules
//   openRulebookCopy
//   publishRulebook
//   readEmployeeFile
//   resumePublication
//   rulebookChanges
//   rulesOfRows

// client/admin.d.ts
export declare function forgetPublication(client: Client, options: KeptOptions): Promise<void>;
export declare function getKeptPublication(client: Client, options: KeptOptions): Promise<number | null>;
export declare function getRulebookCopy(client: Client, of: PolicyVersion, options: KeptOptions): Promise<RulebookCopy | null>;
export declare function getRulebookVersion(client: Client, options?: CallOptions): Promise<PolicyVersion>;
export declare function listMembers(client: Client, orgId: Hex, options?: MemberListOptions): AsyncGenerator<MemberList, void, undefined>;
export declare function openRulebookCopy(client: Client, copy: unknown, version: number, options?: Partial<KeptOptions>): Promise<Policy>;
export declare function publishRulebook(client: Client, policy: Policy, options?: PublishOptions): Promise<PublishedRulebook>;
export declare function resumePublication(client: Client, options: KeptOptions & Pick<PublishOptions, 'onProgress'>): Promise<PublishedRulebook | null>;
export interface KeptOptions extends CallOptions {
    readonly store: HistoryStore;
}

// client/employeeFile.d.ts
export declare const MAX_NAME = 60;
export declare function isName(text: string): boolean;
export declare function readEmployeeFile(text: string, nameable: Nameable, { signal }?: CallOptions): Promise<EmployeeFile>;
export interface EmployeeFile {
    readonly rows: readonly EmployeeRow[];
    readonly faults: readonly RowFault[];
}
export interface EmployeeRow {
    readonly address: Hex;
    readonly name?: string;
    readonly canBuy?: boolean;
    readonly canSell?: boolean;
    readonly restricted?: readonly string[];
    readonly group?: string;
}
export interface Nameable {
    readonly symbols: readonly string[];
    readonly groups: readonly string[];
}
export interface RowFault {
    readonly line: number | null;
    readonly reason: string;
}

// client/employeeRules.d.ts
export declare function exceptionsOf(policy: Policy): Policy;
export declare function rulesOfRows(rows: readonly EmployeeRow[], policy: Pick<Policy, 'employees' | 'groups' | 'default'>): Policy['employees'];

// client/members.d.ts
export interface Member {
    readonly account: Hex;
    readonly state: 'member' | 'leaving' | 'invited' | 'former';
    readonly changedAt: number;
}
export interface MemberList extends ReadList {
    readonly admin: Hex;
    readonly members: readonly Member[];
    readonly events: readonly MembershipEvent[];
}
export interface MembershipEvent extends BlockPlace {
    readonly account: Hex;
    readonly isActive: boolean;
}
export type MemberListOptions = Omit<ListOptions<MemberList>, 'limit'>;

// client/rulebook.d.ts
export interface PublishOptions extends CallOptions {
    readonly base?: number | undefined;
    readonly store?: HistoryStore | undefined;
    readonly onStep?: ((step: PublishStep) => void) | undefined;
    readonly onProgress?: ((progress: PartsOnChain) => void) | undefined;
}
export interface PublishedRulebook extends PolicyVersion {
    readonly copy: RulebookCopy | null;
}
export type PublishStep = 'signing' | 'resuming';

// client/rulebookChanges.d.ts
export declare function alikeChanges(changes: readonly RulebookChange[]): readonly AlikeChanges[];
export declare function rulebookChanges(before: Policy | null, after: Policy, { signal }?: CallOptions): Promise<readonly RulebookChange[]>;
export interface AlikeChanges extends Omit<RulebookChange, 'employee'> {
    readonly employees: readonly Hex[];
}
export interface RulebookChange {
    readonly effect: 'added' | 'lifted' | 'tightened';
    readonly employee: Hex | null;
    readonly text: string;
}

// client/rulebookParts.d.ts
export interface PartsOnChain {
    readonly written: number;
    readonly parts: number;
}

// protocol/policy.d.ts
declare const rulesSchema: z.ZodMiniObject<{
    canBuy: z.ZodMiniBoolean<boolean>;
    canSell: z.ZodMiniBoolean<boolean>;
    restricted: z.ZodMiniArray<z.ZodMiniString<string>>;
}, z.core.$strict>;
export declare function memberRules(policy: Policy, wallet: string): Rules | undefined;
export type Rules = z.output<typeof rulesSchema>;

// protocol/rulebookCopy.d.ts
export declare const rulebookCopySchema: z.ZodMiniObject<{
    format: z.ZodMiniLiteral<"service-rulebook-copy-v1">;
    chainId: z.ZodMiniInt;
    escrow: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    orgId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniInt;
    envelope: z.ZodMiniObject<{
        epk: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        iv: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        ct: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        tag: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    }, z.core.$strict>;
}, z.core.$strict>;
export type RulebookCopy = z.output<typeof rulebookCopySchema>;
import * as z from 'zod/mini';
