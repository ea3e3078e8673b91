-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statements for sqlite3's shell that recurse in its parser, its planner and its virtual machine:
-- for a comparison of call paths by two counts of the same run. Two statements are wrong.
create table t(id integer primary key, word text, n real, parent integer references t(id));
create index t_word on t(word);
create index t_part on t(n, word) where n > 10;
create table log(what text, id integer);
create trigger t_after after delete on t begin
  insert into log values('deleted', old.id);
  update t set parent = null where parent = old.id;
end;
create view v as select a.id, a.word, b.word as above from t a left join t b on a.parent = b.id;
with recursive c(i) as (select 1 union all select i + 1 from c where i < 3000)
insert into t select i, printf('%08x', (i * 1103515245 + 12345) % 2147483648), i / 7.0, i / 2 from c;
select count(*), sum(id) from t where word like '%a%' or word glob '*[0-3]f*';
select substr(word, 1, 2) w, count(*), avg(n), group_concat(id) from t group by w having count(*) > 3
  order by 2 desc, w limit 5;
select a.id from t a join t b on a.word = b.word where a.id % 500 = 0 order by a.id desc;
select id, above from v where id in (select parent from t where n > 400) order by above limit 7;
with recursive up(id, depth) as (select 2999, 0 union all
  select t.parent, depth + 1 from t join up on t.id = up.id where t.parent > 0)
select max(depth) from up;
select id, row_number() over (partition by id % 7 order by word),
  sum(n) over (order by id rows between 3 preceding and current row) from t where id < 60;
select ((((((((((1 + (2 * (3 - (4 / (5 | (6 & (7 << (8 >> (9 || 1))))))))))))))))));
select case when exists(select 1 from t where n between 3 and 4) then coalesce(null, abs(-4))
  else (select max(id) from t where word in (select word from t where id not in (1, 2, 3))) end;
select id from t where id < 9 union select id from t where id < 12 except select 4
  intersect select id from t order by 1;
explain query plan select * from v where word > 'a' and above < 'b' or id = 3;
begin; update t set n = n * 2, word = upper(word) where id < 500; savepoint s;
delete from t where id > 2900; rollback to s; release s; rollback;
delete from t where id % 3 = 0;
insert into t values(1, 'again', 1, 1) on conflict(id) do update set word = excluded.word;
select json_extract('{"a": [1, 2, {"b": [[[[9]]]]}]}', '$.a[2].b');
select json_group_array(value) from json_each('[1, [2, [3, [4, [5]]]], {"x": {"y": {}}}]');
select count(*), what from log;
select strftime('%Y-%m-%d', '2020-01-31', '+1 month'), hex(zeroblob(4)), quote(x'00ff'), round(2.567, 2);
insert into t(id) values(1);
select missing from nowhere;
reindex; analyze; pragma integrity_check; pragma foreign_key_list(t);
alter table t add column more default 7; alter table t rename column more to less;
.schema
.tables
.mode box
select id, word, less from t where id < 10;
.dump log
vacuum;
select 'end', count(*) from t;
