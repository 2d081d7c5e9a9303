import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

export async function createSession() {
  const { rows } = await pool.query('INSERT INTO sessions DEFAULT VALUES RETURNING id');
  return rows[0];
}

/** Stores what the user said and gives the whole conversation. */
export async function addUserMessage(sessionId, content) {
  await pool.query("INSERT INTO messages (session_id, role, content) VALUES ($1, 'user', $2)", [sessionId, content]);
  const { rows } = await pool.query('SELECT role, content FROM messages WHERE session_id = $1 ORDER BY id', [
    sessionId,
  ]);
  return rows;
}

/** Stores the reply and the totals together. */
export async function addReply(sessionId, content, tokens) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query("INSERT INTO messages (session_id, role, content) VALUES ($1, 'assistant', $2)", [
      sessionId,
      content,
    ]);
    await client.query(
      'UPDATE sessions SET turn_count = turn_count + 1, total_tokens = total_tokens + $2, updated_at = now() WHERE id = $1',
      [sessionId, tokens],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
