/**
 * A new UUIDv7, as SQL: for rows whose number only the statement knows. Postgres has a function for it since 18. A
 * random UUID gets the milliseconds in front and its version changed from 4 to 7.
 */
export const uuidV7 = `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid`;
