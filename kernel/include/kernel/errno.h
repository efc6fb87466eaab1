/* SPDX-License-Identifier: MIT */
/* errno.h - error numbers, with the values of Linux's generic ABI. Functions return them negated. */
#ifndef KERNEL_ERRNO_H
#define KERNEL_ERRNO_H

#define EPERM	     1	 /* operation not permitted */
#define ENOENT	     2	 /* no such file or entry */
#define ESRCH	     3	 /* no such task */
#define EINTR	     4	 /* interrupted */
#define EIO	     5	 /* input or output error */
#define ENXIO	     6	 /* no such device or address */
#define E2BIG	     7	 /* argument list too long */
#define ENOEXEC	     8	 /* not an executable format */
#define EBADF	     9	 /* bad file number */
#define ECHILD	     10	 /* no child */
#define EAGAIN	     11	 /* try again */
#define ENOMEM	     12	 /* out of memory */
#define EACCES	     13	 /* permission denied */
#define EFAULT	     14	 /* bad address; exit value of a killed task */
#define EBUSY	     16	 /* device or resource busy */
#define EEXIST	     17	 /* exists already */
#define ENODEV	     19	 /* no such device */
#define ENOTDIR	     20	 /* not a directory */
#define EISDIR	     21	 /* is a directory */
#define EINVAL	     22	 /* invalid argument */
#define ENFILE	     23	 /* file table overflow */
#define EMFILE	     24	 /* too many open files */
#define ENOTTY	     25	 /* not a terminal */
#define EFBIG	     27	 /* file too large */
#define ENOSPC	     28	 /* no space left */
#define ESPIPE	     29	 /* illegal seek */
#define EROFS	     30	 /* read-only file system */
#define EPIPE	     32	 /* broken pipe */
#define EDOM	     33	 /* argument out of a function's domain */
#define ERANGE	     34	 /* result not representable */
#define EDEADLK	     35	 /* would deadlock */
#define ENAMETOOLONG 36	 /* name too long */
#define ENOSYS	     38	 /* no such function */
#define ENOTEMPTY    39	 /* directory is not empty */
#define ENODATA	     61	 /* no data available */
#define ETIME	     62	 /* timer expired */
#define EPROTO	     71	 /* protocol error */
#define EBADMSG	     74	 /* not a data message */
#define EOVERFLOW    75	 /* value too large for its type */
#define EILSEQ	     84	 /* illegal byte sequence */
#define EOPNOTSUPP   95	 /* operation not supported */
#define ETIMEDOUT    110 /* timed out */
#define EALREADY     114 /* already in progress */
#define ECANCELED    125 /* cancelled */

#endif
