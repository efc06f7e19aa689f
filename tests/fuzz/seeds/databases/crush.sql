CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, summary_message_id TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB, model TEXT, created_at INTEGER);
INSERT INTO sessions VALUES ('s', NULL, 'T', 'm3');
INSERT INTO messages VALUES
('m1', 's', 'user', '[{"type":"text","data":{"text":"go"}}]', NULL, 1700000001),
('m2', 's', 'assistant', '[{"type":"tool_call","data":{"id":"c","name":"bash","input":"{}"}}]', 'm', 1700000002),
('m3', 's', 'assistant', '[{"type":"text","data":{"text":"So far: x."}}]', 'm', 1700000003),
('m4', 's', 'user', '[broken', NULL, 1700000004);
