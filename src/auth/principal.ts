/** Who the server takes a caller for. Owner and tenant stand in the WHERE of every query for stored data. */
export interface Principal {
  /** The token's `sub`; `local` without authentication. */
  readonly owner: string;
  /** The token's `tenant`; empty without tenants. */
  readonly tenant: string;
}

/** The one caller of a server without authentication. */
export const localPrincipal: Principal = { owner: 'local', tenant: '' };
